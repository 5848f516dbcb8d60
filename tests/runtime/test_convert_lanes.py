"""`convert --lanes`: an IR whose moved inputs and outputs are 32-bit integers, and which says so."""

import json
import re

import ml_dtypes
import numpy as np
import onnx
import openvino
import pytest

import ov_gather
from helpers.saved_models import parsed
from ov_gather.converters import as_lanes, convert_model, from_lanes
from ov_gather.crosscheck.models.verify import verify_conversion
from ov_gather.runtimes.session import Session

TYPES = ("int64", "uint64", "float64", "complex64", "complex128", "float16", "bfloat16", "float32", "uint32")


def gather(op_type, dtype, constant=None):
    kind = {"float64": "double", "float32": "float"}.get(np.dtype(dtype).name, np.dtype(dtype).name)
    x, constants = (f"{kind}[n, 5] x, ", {}) if constant is None else ("", {"x": constant})
    node = f"y = {op_type} {'' if op_type == 'GatherND' else '<axis = -1>'} (x, i)"
    return parsed(f"({x}int64[n, 2] i) => ({kind}[] y) {{ {node} }}", **constants)


def run(path, **given):
    model = ov_gather.register(openvino.Core()).read_model(path)
    assert {port.any_name for port in model.inputs} == set(given)
    (found,) = Session(openvino.Core(), model)([given[port.any_name] for port in model.inputs])
    return model.output().any_name, found, json.loads(model.get_rt_info(["ov_gather", "lanes"]).value)


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize("op_type", ["Gather", "GatherElements", "GatherND"])
def test_inputs_and_outputs_are_lanes(tmp_path, target, op_type):
    path = tmp_path / "x.xml"
    convert_model(gather(op_type, "float64"), output=path, target=target, lanes=True, assume_in_bounds=True)
    x, i = np.random.default_rng(0).random((4, 5)), np.array([[0, 1], [2, 3], [3, 0], [1, 1]])
    right = {"Gather": x[:, i], "GatherElements": np.take_along_axis(x, i, 1), "GatherND": x[i[:, 0], i[:, 1]]}[op_type]
    name, found, lanes = run(path, **{"x.lanes": as_lanes(x), "i": i})
    assert name == "y.lanes"
    assert lanes == {"x.lanes": ["x", "float64"], "y.lanes": ["y", "float64"]}
    np.testing.assert_array_equal(from_lanes(found, lanes[name][1]), right)


@pytest.mark.parametrize("dtype", ["uint64", "complex128", "uint32", "bfloat16", "float32"])
def test_constants_keep_every_bit(tmp_path, dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    table = np.frombuffer(np.random.default_rng(0).bytes(20 * dtype.itemsize), dtype).reshape(4, 5).copy()
    if dtype.itemsize <= 4 and dtype.kind != "u":
        table[0] = [1e-39, -0.0, np.nan, -1e-39, 0]  # 1e-39 is denormal
    path = tmp_path / "x.xml"
    convert_model(gather("Gather", dtype, table), output=path, lanes=True, assume_in_bounds=True, strict=True)
    _, found, _ = run(path, i=np.array([[0, -1], [2, 1]]))
    assert from_lanes(found, dtype).tobytes() == table[:, [[0, -1], [2, 1]]].tobytes()


def test_nothing_changes_where_nothing_needs_lanes(tmp_path):
    model = convert_model(gather("Gather", "int32"), lanes=True, assume_in_bounds=True)
    assert [port.any_name for port in (*model.inputs, *model.outputs)] == ["x", "i", "y"]
    assert not model.has_rt_info(["ov_gather", "lanes"])


def test_the_command(tmp_path, cli):
    onnx.save(gather("Gather", "int64"), tmp_path / "x.onnx")
    done = cli("convert", tmp_path / "x.onnx", "-o", tmp_path / "x.xml", "--lanes", "--assume-in-bounds", "--strict", code=0)
    assert "x.xml: 'x.lanes' holds int64 'x' in lanes" in done.stdout
    assert "x.xml: 'y.lanes' holds int64 'y' in lanes" in done.stdout
    assert ov_gather.validate(tmp_path / "x.xml") == []


@pytest.mark.sampled(1)
@pytest.mark.onnxruntime
@pytest.mark.parametrize("target", ["stock", "extension"])
def test_the_command_verifies(tmp_path, cli, target):
    """Numbers of 64 bits, which OpenVINO alone cannot keep, are compared with those of onnxruntime, all of them."""
    onnx.save(gather("Gather", "int64"), tmp_path / "x.onnx")
    x = np.array([[2**40, -(2**63), 3, 4, 2**63 - 1]])
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "i.npy", np.array([[4, 1]]))
    given = ("--input", f"x={tmp_path}/x.npy", "--input", f"i={tmp_path}/i.npy")
    options = ("--lanes", "--assume-in-bounds", "--verify", "--target", target, *given)
    done = cli("convert", tmp_path / "x.onnx", "-o", tmp_path / "x.xml", *options, code=0)
    assert re.search(r"^y +int64\[1, 1, 2\] +\S+: passed \(exact\)", done.stdout, re.M), done.stdout
    assert "outputs: 1, passed: 1" in done.stdout


@pytest.mark.onnxruntime
def test_the_command_finds_other_lanes(tmp_path):
    """What another model became does not pass."""
    onnx.save(gather("Gather", "int64"), tmp_path / "x.onnx")
    wrong = gather("Gather", "int64", np.array([[9, 8, 7, 6, 2**40 + 1]]))
    convert_model(wrong, output=tmp_path / "x.xml", lanes=True, assume_in_bounds=True)
    given = {"x": np.array([[2**40, 1, 2, 3, 4]]), "i": np.array([[4, 0]])}
    lanes = {"y.lanes": ("y", "int64")}
    result = verify_conversion(tmp_path / "x.onnx", tmp_path / "x.xml", inputs=given, lanes=lanes)
    assert not result.passed
    assert result.outputs[0].comparison.difference is not None


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_become_lanes_and_come_back(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = np.frombuffer(np.random.default_rng(0).bytes(24 * dtype.itemsize), dtype).reshape(2, 3, 4)
    for given in (array, array[:, ::2], array.T, array[0, 0, 0], array[:0]):
        lanes = as_lanes(given)
        assert lanes.shape == (*given.shape, *((dtype.itemsize // 4,) if dtype.itemsize > 4 else ()))
        assert from_lanes(lanes, dtype).tobytes() == given.tobytes()
    assert np.shares_memory(as_lanes(array), array)
    assert np.shares_memory(from_lanes(as_lanes(array), dtype), array)


def test_the_byte_order_does_not_matter():
    assert as_lanes(np.array([1, -1], ">i8")).tobytes() == np.array([1, -1]).tobytes()


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([1, 2], object), np.array([1], np.int32), np.array([True])])
def test_other_types_have_no_lanes(array):
    with pytest.raises(TypeError, match=r"does not travel in lanes; int64, .* do"):
        as_lanes(array)
    with pytest.raises(TypeError, match=r"does not travel in lanes; int64, .* do"):
        from_lanes(np.zeros((1, 2), np.int32), array.dtype)


@pytest.mark.parametrize("lanes", [np.zeros((2, 4), np.int32), np.zeros((2, 2), np.int64), np.zeros((), np.int32)])
def test_what_are_no_lanes(lanes):
    with pytest.raises(ValueError, match="lanes of int64 must be int32, the last dimension 2, not"):
        from_lanes(lanes, np.int64)
