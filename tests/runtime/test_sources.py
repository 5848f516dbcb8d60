"""What takes a path of an IR also takes it in memory: as bytes, with the bytes of the .bin, or as an `openvino.Model`."""

import numpy as np
import openvino
import pytest
from lxml import etree

import ov_gather
from helpers.paths import SAMPLES
from helpers.saved_models import parsed
from ov_gather.converters import convert_model

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


def sources(model):
    """The same IR in every way in which it can be given, each with the weights that it needs."""
    weights = CONSTANTS.with_suffix(".bin")
    with CONSTANTS.open("rb") as file:
        yield CONSTANTS, None
        yield str(CONSTANTS), None
        yield CONSTANTS.read_bytes(), weights
        yield CONSTANTS.read_bytes(), weights.read_bytes()
        yield file, None
        yield etree.parse(CONSTANTS), None
        yield etree.fromstring(CONSTANTS.read_bytes()), weights
        yield model, None


def test_every_function_takes_every_source(model):
    expected = [proof.status for proof in ov_gather.prove(CONSTANTS)]
    count = 0
    for source, weights in sources(model):
        if hasattr(source, "seek"):  # a file has no .bin beside it
            weights = CONSTANTS.with_suffix(".bin")
        read = [ov_gather.read_ir(source, weights)]
        for call in (
            lambda: [finding.rule for finding in ov_gather.validate(source, weights=weights)] == ["OVG701"],  # noqa: B023
            lambda: [proof.status for proof in ov_gather.prove(source, weights=weights)] == expected,  # noqa: B023
            lambda: ov_gather.diff(source, read[0], weights=(weights, None)).passed,  # noqa: B023
            lambda: ov_gather.cross_check(source, weights=weights, runtimes=("kernel",), cases=1).passed,  # noqa: B023
        ):
            if hasattr(source, "seek"):
                source.seek(0)
            assert call()
            count += 1
    assert count == 4 * 8


TEXT = "(float[5] x) => (float[5] y) { z = Relu(x) y = Neg(z) }"


def test_bisect_takes_models_in_memory():
    proto = parsed(TEXT)
    converted = convert_model(proto.SerializeToString())
    inputs = {"x": np.float32([1, -2, 3, -4, 5])}
    for reference in (proto, proto.SerializeToString(), converted):
        assert ov_gather.bisect(reference, converted, inputs).passed
    other = convert_model(parsed(TEXT.replace("Neg", "Sqrt")))
    assert not ov_gather.bisect(proto, other, inputs).passed
    with pytest.raises(ValueError, match="bytes: not a valid ONNX model"):
        ov_gather.bisect(b"no model", converted)


def test_a_model_of_another_library():
    with pytest.raises(TypeError, match=r"or an openvino\.Model, not from dict"):
        ov_gather.read_ir({})
