"""What takes a path of an IR also takes it in memory: as bytes, with the bytes of the .bin, or as an `openvino.Model`."""

from __future__ import annotations

import openvino
import pytest

import ov_gather
from helpers.paths import SAMPLES

CONSTANTS = SAMPLES / "divergent" / "negative-indices" / "onnx_page_3.xml"


@pytest.fixture(scope="module")
def model():
    return openvino.Core().read_model(CONSTANTS)


def test_read_ir(model):
    read = ov_gather.read_ir(model)
    assert ov_gather.diff(read, CONSTANTS).passed
    assert ov_gather.diff(model, CONSTANTS).passed


def test_validate(model):
    expected = [(finding.rule, finding.message, finding.fingerprint) for finding in ov_gather.validate(CONSTANTS)]
    assert expected
    weights = CONSTANTS.with_suffix(".bin")
    for source, options in (
        (model, {}),
        (CONSTANTS.read_bytes(), {"weights": weights}),
        (CONSTANTS.read_bytes(), {"weights": weights.read_bytes()}),
    ):
        found = ov_gather.validate(source, **options)
        assert [(finding.rule, finding.message, finding.fingerprint) for finding in found] == expected


def test_without_its_weights_a_document_in_memory_lacks_them():
    assert {finding.rule for finding in ov_gather.validate(CONSTANTS.read_bytes())} == {"OVG501"}


def test_cross_check(model):
    for source, options in ((model, {}), (CONSTANTS.read_bytes(), {"weights": CONSTANTS.with_suffix(".bin")})):
        result = ov_gather.cross_check(source, runtimes=("kernel",), cases=1, **options)
        assert result.passed
        assert len(result.layers) == 1


def test_a_model_of_another_library():
    with pytest.raises(TypeError, match=r"or an openvino\.Model, not from dict"):
        ov_gather.read_ir({})
