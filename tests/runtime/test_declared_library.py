"""Three declared operations as a library in C++, which every release of OpenVINO takes: validated, run, checked, proved."""

import shutil
from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import ov_gather
from helpers.declared_operations import DECLARATIONS, write_three
from helpers.declaring import declared
from helpers.users_operations import build
from ov_gather.crosscheck.results import Status

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
SOURCE = Path(__file__).parents[1] / "helpers" / "three_operations.cpp"
KINDS = ("Roll", "SegmentSum", "Lookup")
ROWS = 5


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(SOURCE.read_text(), tmp_path_factory.mktemp("three") / "libthree.so")


@pytest.fixture
def model(tmp_path):
    with declared(tmp_path / f"ops_of_{tmp_path.name}.py", DECLARATIONS):
        yield write_three(tmp_path / "three.xml")


@pytest.mark.exhaustive
def test_they_are_validated_checked_and_proved(library, model):
    assert ov_gather.validate(model, infer=True, extensions=[library]) == []
    result = ov_gather.cross_check(model, extensions=[library], cases=4)
    assert result.passed, [layer.problem or layer.comparisons for layer in result.layers]
    assert not result.not_run
    assert [layer.operation for layer in result.layers] == [f"{kind}-mine" for kind in KINDS]
    for layer in result.layers:
        assert set(layer.counts["library"]) == set(layer.counts["openvino"]) == {Status.PASSED}
    assert {proof.layer: proof.status for proof in ov_gather.prove(model)} == {"sums": "proved", "lookup": "conditional"}


def test_they_are_executed(library, model):
    core = ov.Core()
    core.add_extension(str(library))
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    rng, ids = np.random.default_rng(1), np.array([3, 0, 2, 3, 1])
    x, weights = rng.random((ROWS, 3), np.float32), rng.random(ROWS, np.float32)
    sums = np.zeros((4, 3))
    for row, i in enumerate(ids):
        sums[i] += x[(row - 1) % ROWS]
    want = [sums[i] * (1 - w) + sums[min(i + 1, 3)] * w for i, w in zip(ids, weights, strict=True)]
    np.testing.assert_allclose(compiled({"x": x, "ids": ids, "weights": weights})[0], want, rtol=1e-4)
