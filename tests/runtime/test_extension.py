"""Our operation inside OpenVINO: types, shapes, errors, threads, ONNX, round trips, and what happens when it does not fit."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import ov_gather
from helpers.inside_openvino import (
    WHOLE_BYTES,
    compiled,
    evaluate,
    infer,
    inferred_shape,
    one_layer,
    onnx_model,
    opsets,
    random_values,
    read,
    same_bits,
)
from ov_gather.extension import installed
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32, I64, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.runtimes.openvino import ExtensionRuntime

FLAGS = {"broadcast": False, "transpose": False, "same_shape": False, "lanes": False}


@pytest.fixture(scope="module")
def core():
    return ov_gather.register(ov.Core())


def layer_model(data="3,7,5", indices="3,10,5", axis=1, data_type=F32, index_type=I64, **flags):
    inputs = {"data": (data, data_type), "indices": (indices, index_type)}
    return one_layer("GatherElements", inputs, {"axis": axis, **FLAGS, **flags})


@pytest.mark.sanitized
@pytest.mark.parametrize("row", WHOLE_BYTES, ids=str)
@pytest.mark.parametrize("index_type", [I32, I64], ids=str)
def test_every_type_of_whole_bytes_bit_by_bit(core, row, index_type):
    rng = np.random.default_rng(1)
    data = random_values(row, (3, 7, 5))
    indices = rng.integers(-7, 7, (3, 10, 5)).astype(index_type.dtype)
    gathered = np.take_along_axis(data, indices, 1)
    for transpose in (False, True):
        model = read(core, layer_model("3,7,5", "3,10,5", transpose=transpose, data_type=row, index_type=index_type))
        assert same_bits(evaluate(model, row, data, indices), np.swapaxes(gathered, 1, 2).copy() if transpose else gathered)


@pytest.mark.parametrize("name", ["i4", "u4", "u1", "nf4", "f4e2m1"])
def test_types_below_a_byte_are_refused(core, name):
    with pytest.raises(RuntimeError, match=r"smaller than a byte.*convert it to i8 or u8"):
        read(core, layer_model(data_type=by_name(name)))


@pytest.mark.slow
@pytest.mark.sanitized
def test_more_than_2_to_the_31_elements(core):
    data = np.zeros(2**31 + 64, np.uint8)
    indices = np.array([2**31 + 63, -1, 0, 2**31, -(2**31) - 64])
    data[indices] = [1, 1, 2, 3, 2]
    size = str(data.size)
    result = evaluate(read(core, layer_model(size, "5", 0, data_type=by_name("u8"))), by_name("u8"), data, indices)
    assert result.tolist() == [1, 1, 2, 3, 2]
    indices[3] = 2**31 + 64
    with pytest.raises(RuntimeError, match=r"indices\[3\] = 2147483712 is out of bounds for axis 0 of size 2147483712"):
        evaluate(read(core, layer_model(size, "5", 0, data_type=by_name("u8"))), by_name("u8"), data, indices)


def test_parts_of_tensors(core):
    model = read(core, layer_model("?,?", "?,?", 1))
    table, where = np.arange(200, dtype=np.float32).reshape(10, 20), np.random.default_rng(0).integers(-8, 8, (9, 9))
    data = ov.Tensor(ov.Tensor(table), ov.Coordinate([2, 3]), ov.Coordinate([7, 11]))
    indices = ov.Tensor(ov.Tensor(where), ov.Coordinate([1, 1]), ov.Coordinate([6, 5]))
    output = ov.Tensor(ov.Type.f32, ov.Shape([0, 0]))
    model.evaluate([output], [data, indices])
    assert np.array_equal(output.data, np.take_along_axis(table[2:7, 3:11], where[1:6, 1:5], 1))


def test_other_index_types_are_refused(core):
    with pytest.raises(RuntimeError, match="indices must be i32 or i64, not f32"):
        read(core, layer_model(index_type=F32))


@pytest.mark.parametrize(
    ("data", "indices", "axis", "flags", "output"),
    [
        ("3,7,5", "3,10,5", 1, {}, "[3,10,5]"),
        ("3,7,5", "2,10,4", -2, {}, "[2,10,4]"),
        ("3,7,5", "...", 1, {}, "[0..3,?,0..5]"),
        ("...", "2,?", 1, {}, "[2,?]"),
        ("...", "...", 9, {}, "[...]"),
        ("2..4,?", "1..9,6", 1, {}, "[1..4,6]"),
        ("?,7", "?,1", 1, {}, "[?,1]"),
        ("3,7,5", "1,10,1", 1, {"broadcast": True}, "[3,10,5]"),
        ("3,7,5", "3,10,1", 1, {"broadcast": True}, "[3,10,5]"),
        ("?,7", "4,2", 1, {"broadcast": True}, "[4,2]"),
        ("2..9,7", "?,2", 1, {"broadcast": True}, "[2..9,2]"),
        ("?,7", "1,2", 1, {"broadcast": True}, "[?,2]"),
        ("3,7", "...", 0, {"broadcast": True}, "[?,7]"),
        ("...", "4,1", 0, {"broadcast": True}, "[4,?]"),
        ("3,0", "3,2", 1, {}, "[3,2]"),
        ("3,7,5", "3,10,5", 1, {"same_shape": True}, "[3,10,5]"),
        ("3,7,5", "...", 1, {"same_shape": True}, "[3,?,5]"),
        ("2..4,?", "1..9,6", 1, {"same_shape": True}, "[2..4,6]"),
        ("?,7", "?,?", 0, {"same_shape": True, "broadcast": True}, "[?,7]"),
    ],
)
def test_output_shape(core, data, indices, axis, flags, output):
    shapes = (PartialShape.parse(data), PartialShape.parse(indices))
    (specified,) = GATHER_ELEMENTS_CUSTOM.infer_shapes(shapes, {"axis": axis, **FLAGS, **flags})
    assert str(specified) == output
    assert inferred_shape(read(core, layer_model(data, indices, axis, **flags))) == specified
    transposed = inferred_shape(read(core, layer_model(data, indices, axis, transpose=True, **flags)))
    assert transposed.dims == (specified.dims and (*specified.dims[:-2], specified.dims[-1], specified.dims[-2]))


@pytest.mark.parametrize(
    ("data", "indices", "axis", "flags", "reason"),
    [
        ("3,7", "3", 0, {}, "must have the same rank"),
        ("", "", 0, {}, "rank of at least 1"),
        ("3,7", "3,2", 2, {}, "axis 2 is out of range for rank 2"),
        ("3,7", "4,2", 1, {}, "do not fit data .3,7. in dimension 0: off the axis it may not exceed data's"),
        (
            "3,7",
            "2,2",
            1,
            {"broadcast": True},
            "do not fit data .3,7. in dimension 0: with broadcast=true it must be 1 or data's",
        ),
        ("3,7", "2,2", 1, {"same_shape": True}, "do not fit data .3,7. in dimension 0: with same_shape=true it must be data's"),
        ("3,7", "1,2", 1, {"same_shape": True, "broadcast": True}, "in dimension 0: with same_shape=true it must be data's"),
        ("1..3,7", "4..9,7", 1, {}, "in dimension 0"),
    ],
)
def test_shapes_that_do_not_fit(core, data, indices, axis, flags, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(data, indices, axis, **flags))


DIMS = st.sampled_from(["?", "1", "2", "3", "0", "1..2", "2..", "..3", "2..5"])
SHAPES = st.one_of(st.just("..."), st.lists(DIMS, min_size=1, max_size=3).map(",".join))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(SHAPES, SHAPES, st.integers(-3, 2), st.fixed_dictionaries(dict.fromkeys(FLAGS, st.booleans())))
def test_the_specification_says_what_the_operation_infers(core, data, indices, axis, flags):
    shapes = (PartialShape.parse(data), PartialShape.parse(indices))
    try:
        GATHER_ELEMENTS_CUSTOM.read_attributes({"axis": str(axis)}, shapes)
        (specified,) = GATHER_ELEMENTS_CUSTOM.infer_shapes(shapes, {"axis": axis, **flags})
    except ValueError:
        specified = None
    try:
        assert inferred_shape(read(core, layer_model(data, indices, axis, **flags))) == specified
    except RuntimeError:
        assert specified is None


@pytest.mark.parametrize("broadcast", [False, True])
def test_indices_of_open_shape_that_are_smaller_raise_on_demand(core, broadcast):
    flags = {"broadcast": broadcast, "same_shape": True}
    request = compiled(core, read(core, layer_model("?,?", "?,?", 0, **flags)))
    table = np.arange(21, dtype=np.float32).reshape(7, 3)
    for smaller in (1, 2):
        with pytest.raises(RuntimeError, match="dimension 1: with same_shape=true it must be data's"):
            infer(request, table, np.zeros((9, smaller), np.int64))
    where = np.random.default_rng(0).integers(-7, 7, (9, 3))
    assert np.array_equal(infer(request, table, where), np.take_along_axis(table, where, 0))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("data", "indices"), [("3,7,5", "3,10,5"), ("?,?,?", "?,?,?")])
def test_an_index_out_of_bounds_raises_and_the_request_goes_on(core, threads, data, indices):
    request = compiled(core, read(core, layer_model(data, indices)), threads)
    table = np.arange(105, dtype=np.float32).reshape(3, 7, 5)
    right = np.random.default_rng(0).integers(-7, 7, (3, 10, 5))
    for bad in (7, -8, 2**31 - 1, -(2**31)):
        wrong = right.copy()
        wrong[2, 9, 4] = bad
        with pytest.raises(RuntimeError) as raised:
            infer(request, table, wrong)
        reason = f"GatherElements 'gather': indices[2, 9, 4] = {bad} is out of bounds for axis 1 of size 7 (valid -7..6)"
        assert reason in str(raised.value)
        assert np.array_equal(infer(request, table, right), np.take_along_axis(table, right, 1))


def test_a_vector_has_no_two_dimensions_to_transpose(core):
    with pytest.raises(RuntimeError, match="transpose=true needs a rank of at least 2, not 1"):
        read(core, layer_model("7", "3", 0, transpose=True))


@pytest.mark.parametrize("transpose", [False, True])
def test_the_position_is_that_of_the_broadcast_index(core, transpose):
    request = compiled(core, read(core, layer_model("3,7,5", "3,2,1", 1, broadcast=True, transpose=transpose)))
    indices = np.zeros((3, 2, 1), np.int64)
    indices[2, 1, 0] = -8
    with pytest.raises(RuntimeError, match=r"indices\[2, 1, 0\] = -8"):
        infer(request, np.zeros((3, 7, 5), np.float32), indices)


def test_no_index_is_valid_for_an_axis_of_size_0(core):
    request = compiled(core, read(core, layer_model("?,?", "?,?")))
    with pytest.raises(RuntimeError, match="no index is valid"):
        infer(request, np.zeros((3, 0), np.float32), np.zeros((3, 2), np.int64))
    assert infer(request, np.zeros((3, 0), np.float32), np.zeros((3, 0), np.int64)).shape == (3, 0)


def test_dynamic_shapes_from_call_to_call(core):
    request = compiled(core, read(core, layer_model("?,?,?", "?,?,?", -2)))
    rng = np.random.default_rng(0)
    for data, indices in [
        ((3, 7, 5), (3, 10, 5)),
        ((4, 1, 2), (2, 3, 1)),
        ((1, 1, 1), (1, 1, 1)),
        ((40, 50, 60), (40, 70, 60)),
    ]:
        table, where = rng.random(data, np.float32), rng.integers(-data[1], data[1], indices)
        part = table[: indices[0], :, : indices[2]]
        assert np.array_equal(infer(request, table, where), np.take_along_axis(part, where, 1))


@pytest.mark.sanitized
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_broadcast_and_transpose_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = [data.draw(st.sampled_from([1, size])) for size in shape]
    indices[axis] = data.draw(st.integers(0, 5))
    rng = np.random.default_rng(0)
    table, where = rng.random(shape, np.float32), rng.integers(-shape[axis], shape[axis], indices)
    transpose = len(shape) > 1 and data.draw(st.booleans())
    model = read(
        core, layer_model(",".join(map(str, shape)), ",".join(map(str, indices)), axis, broadcast=True, transpose=transpose)
    )
    expected = np.take_along_axis(table, where, axis)  # NumPy broadcasts as our operation does
    assert np.array_equal(evaluate(model, F32, table, where), np.swapaxes(expected, -1, -2) if transpose else expected)


def onnx_gather(data, indices, **attributes):
    node = helper.make_node("GatherElements", ["data", "indices"], ["output"], name="node", **attributes)
    return onnx_model([node], {"data": data, "indices": (onnx.TensorProto.INT64, indices)})


def test_onnx_is_read_as_ours(core):
    model = core.read_model(
        onnx_gather((onnx.TensorProto.FLOAT, [3, 4]), [2, 2])
    )  # the stock operation refuses such small indices
    assert opsets(model, "GatherElements") == ["ov_gather"]
    table, where = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([[2, -1], [0, -3]])
    assert infer(compiled(core, model), table, where).tolist() == np.take_along_axis(table[:, :2], where, 0).tolist()
    with pytest.raises(RuntimeError):
        ov.Core().read_model(onnx_gather((onnx.TensorProto.FLOAT, [3, 4]), [2, 2]))


def test_onnx_strings(core):
    model = core.read_model(onnx_gather((onnx.TensorProto.STRING, [2, 2]), [2, 3], axis=1))
    request = compiled(core, model)
    words, where = np.array([["a", "b"], ["ccc", ""]]), np.array([[1, 1, 0], [0, 1, -2]])
    assert infer(request, words, where).tolist() == [["b", "b", "a"], ["ccc", "", "ccc"]]


def test_strings_are_transposed_as_well(core):
    model = read(core, layer_model("?,?", "?,?", transpose=True, data_type=by_name("string")))
    words, where = np.array([["a", "b"], ["ccc", ""]]), np.array([[1, 1, 0], [0, 1, -2]])
    assert infer(compiled(core, model), words, where).tolist() == [["b", "ccc"], ["b", ""], ["a", "ccc"]]


@pytest.mark.parametrize(("broadcast", "transpose"), [(False, False), (True, False), (False, True), (True, True)])
def test_round_trip(core, tmp_path, broadcast, transpose):
    flags = {**FLAGS, "broadcast": broadcast, "transpose": transpose}
    model = read(core, layer_model("3,7", "1,2", -1, **flags))
    ov.serialize(model, tmp_path / "m.xml")
    again = core.read_model(tmp_path / "m.xml")
    (layer,) = [op for op in again.get_ops() if op.get_type_name() == "GatherElements"]
    assert layer.get_type_info().version_id == "ov_gather"
    assert layer.get_attributes() == {"axis": -1, **flags}
    assert again.output(0).partial_shape == model.output(0).partial_shape
    assert ov_gather.validate(tmp_path / "m.xml") == []
    table, where = np.arange(21, dtype=np.float32).reshape(3, 7), np.array([[6, -7]])
    expected = np.take_along_axis(table if broadcast else table[:1], where, 1)
    assert np.array_equal(infer(compiled(core, again), table, where), expected.T if transpose else expected)


def test_a_cached_model_is_the_same(tmp_path):
    table, where = np.arange(21, dtype=np.float32).reshape(3, 7), np.array([[6, -7], [0, 1]])
    for _ in range(2):
        core = ov_gather.register(ov.Core())
        core.set_property({"CACHE_DIR": tmp_path})
        request = compiled(core, read(core, layer_model("3,7", "2,2")))
        assert np.array_equal(infer(request, table, where), np.take_along_axis(table[:2], where, 1))
    assert len(list(tmp_path.glob("*.blob"))) == 1


def test_a_constant_layer_is_folded_and_checked_when_compiled(core):
    builder = ModelBuilder("folded")
    data = builder.const("data", F32, np.arange(6, dtype=np.float32).reshape(2, 3))
    indices = builder.const("indices", I64, np.array([[1, 3]]))
    shape = PartialShape.of((1, 2))
    (output,) = builder.layer("GatherElements", "gather", "ov_gather", {"axis": "1"}, [data, indices], [(F32, shape)])
    builder.result("output", output)
    with pytest.raises(RuntimeError, match=r"GatherElements 'gather': indices\[0, 1\] = 3 is out of bounds"):
        infer(compiled(core, read(core, builder.build())))


def test_many_requests_at_once(core):
    compiled_model = core.compile_model(read(core, layer_model("64,512,16", "64,300,16")), "CPU", {"NUM_STREAMS": 2})
    rng = np.random.default_rng(0)
    table = rng.random((64, 512, 16), np.float32)
    cases = [rng.integers(-512, 512, (64, 300, 16)) for _ in range(6)]
    requests, kept = [], []
    for where in cases:
        request = compiled_model.create_infer_request()
        kept.append([ov.Tensor(table), ov.Tensor(where)])
        request.set_tensors({0: kept[-1][0], 1: kept[-1][1]})
        request.start_async()
        requests.append(request)
    for request, where in zip(requests, cases, strict=True):
        request.wait()
        assert np.array_equal(request.get_output_tensor(0).data, np.take_along_axis(table, where, 1))


def test_a_model_outlives_its_core():
    model = read(ov_gather.register(ov.Core()), layer_model("3,7", "3,2"))
    gc.collect()
    assert model.clone().output(0).partial_shape.to_shape() == ov.Shape([3, 2])


def test_registering_twice_does_no_harm():
    core = ov_gather.register(ov_gather.register(ov.Core()))
    assert read(core, layer_model("3,7", "3,2")).output(0).partial_shape.to_shape() == ov.Shape([3, 2])


def test_an_openvino_that_is_not_the_one_whose_headers_are_there_is_refused(monkeypatch):
    headers = replace(installed.find(), release="2025.9.3")
    monkeypatch.setattr(installed, "find", lambda: headers)
    with pytest.raises(ImportError, match=r"of two releases, OpenVINO 2025\.9\.3 and 20.*pip install --force-reinstall"):
        ov_gather.register(ov.Core())


def test_the_plugin_narrows_64_bits_before_our_operation_sees_them():
    """Reported as a divergence, never claimed: from Python, and evaluated directly, the same layer is exact."""
    runtime = ExtensionRuntime()
    runtime.activate(layer_model("2", "2", 0, data_type=I64))
    (output,) = runtime.execute([np.array([2**40 + 3, 5]), np.array([0, 1])])
    assert output.tolist() == [3, 5]


def test_only_two_symbols_are_ours():
    """Hidden symbols: nothing of our kernel can clash with another extension's."""
    exported = Path(ov_gather.extension_path()).read_bytes()
    assert b"\0create_extensions\0" in exported
    assert b"\0ov_gather_built_for\0" in exported
    assert b"_ZN9ov_gather" not in exported
