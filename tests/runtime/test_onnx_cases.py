"""ONNX's own GatherElements cases through our converter and OpenVINO."""

import warnings

import numpy as np
import onnx
import openvino as ov
import pytest

from ov_gather.converters import convert_model

pytestmark = [pytest.mark.onnxruntime, pytest.mark.slow]


NAMES = ["test_gather_elements_0", "test_gather_elements_1", "test_gather_elements_negative_indices"]


@pytest.fixture(scope="module")
def cases():
    """The cases by name. To make them takes seconds, as ONNX makes those of all operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators of other operators divide by zero on purpose
        from onnx.backend.test.case.node import collect_testcases

        return {case.name: case for case in collect_testcases("GatherElements")}


def test_there_are_three(cases):
    assert sorted(cases) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [True, False], ids=["command", "function"])
def test_openvino_gives_the_expected_output(cases, name, command, cli, tmp_path):
    case = cases[name]
    if command:
        onnx.save(case.model, tmp_path / "x.onnx")
        done = cli("convert", tmp_path / "x.onnx", "-o", tmp_path / "x.xml", "--verify")
        assert done.returncode == 0, done.stdout + done.stderr
        model = ov.Core().read_model(tmp_path / "x.xml")
    else:
        model = convert_model(case.model, output=tmp_path / "x.xml")
        assert (tmp_path / "x.xml").exists()
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for inputs, (expected,) in case.data_sets:
        np.testing.assert_array_equal(compiled(inputs)[0], expected)
