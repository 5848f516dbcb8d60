"""Our GatherND inside OpenVINO: types, shapes, errors, threads, round trips, ONNX."""

from __future__ import annotations

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from openvino import opset8

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
from ov_gather.ir.element_types import F32, I32, I64, by_name
from ov_gather.ir.shapes import PartialShape


@pytest.fixture(scope="module")
def core():
    return ov_gather.register(ov.Core())


def layer_model(data, indices, batch_dims=0, data_type=F32, index_type=I64):
    inputs = {"data": (data, data_type), "indices": (indices, index_type)}
    return one_layer("GatherND", inputs, {"batch_dims": batch_dims})


@pytest.mark.sanitized
@pytest.mark.parametrize("row", WHOLE_BYTES, ids=str)
@pytest.mark.parametrize("index_type", [I32, I64], ids=str)
def test_every_type_of_whole_bytes_bit_by_bit(core, row, index_type):
    data = random_values(row, (3, 7, 5))
    indices = np.random.default_rng(0).integers(-3, 3, (4, 6, 2)).astype(index_type.dtype)
    model = read(core, layer_model("3,7,5", "4,6,2", 0, row, index_type))
    assert same_bits(evaluate(model, row, data, indices), data[indices[..., 0], indices[..., 1]])


def test_parts_of_tensors_are_refused(core):
    model = read(core, layer_model("?,?", "?,1"))
    part = ov.Tensor(ov.Tensor(np.zeros((4, 4), np.float32)), ov.Coordinate([1, 1]), ov.Coordinate([3, 3]))
    with pytest.raises(RuntimeError, match="GatherND 'gather': a part of a tensor is not gathered by tuples: copy it"):
        model.evaluate([ov.Tensor(ov.Type.f32, ov.Shape([0]))], [part, ov.Tensor(np.array([[0]]))])


@pytest.mark.parametrize(
    ("data", "indices", "batch_dims", "output"),
    [
        ("3,7,5", "4,6,2", 0, "[4,6,5]"),
        ("3,7,5", "3", 0, "[]"),
        ("3,7,5", "3,2,1", 1, "[3,2,5]"),
        ("2,3,4", "2,3,1", 2, "[2,3]"),
        ("2..9,?,5", "1..4,?,1", 1, "[2..4,?,5]"),
        ("3,7,5", "3,2,?", 1, "[...]"),
        ("...", "3,2", 1, "[...]"),
        ("3,7", "...", 1, "[...]"),
        ("3,0,5", "3,0,1", 1, "[3,0,5]"),
        ("3,7", "4,0", 0, "[4,3,7]"),
    ],
)
def test_output_shape(core, data, indices, batch_dims, output):
    assert str(inferred_shape(read(core, layer_model(data, indices, batch_dims)))) == output


@pytest.mark.parametrize(
    ("data", "indices", "batch_dims", "reason"),
    [
        ("", "2,1", 0, "must have a rank of at least 1"),
        ("3,7", "", 0, "must have a rank of at least 1"),
        ("3,7", "3,2", -1, "batch_dims -1 is negative"),
        ("3,7", "3", 1, "batch_dims 1 must be less than the ranks of data .3,7. and indices .3."),
        ("3,7", "2,1", 1, "differ in dimension 0, which is one of 1 batch_dims"),
        ("3,7", "3,2", 1, "tuples of 2 coordinates index data .3,7. behind 1 batch_dims"),
    ],
)
def test_what_does_not_fit(core, data, indices, batch_dims, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(data, indices, batch_dims))


def test_types_that_are_refused(core):
    with pytest.raises(RuntimeError, match=r"smaller than a byte.*convert it to i8 or u8"):
        read(core, layer_model("3", "2,1", data_type=by_name("u4")))
    with pytest.raises(RuntimeError, match="indices must be i32 or i64, not f32"):
        read(core, layer_model("3", "2,1", index_type=F32))


DIMS = st.sampled_from(["?", "0", "1", "2", "3", "1..2", "2..", "..3", "2..5"])
SHAPES = st.one_of(st.just("..."), st.lists(DIMS, max_size=4).map(",".join))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SHAPES, SHAPES, st.integers(0, 3))
def test_shapes_are_inferred_as_by_the_stock_operation(core, data, indices, batch_dims):
    shapes = [ov.PartialShape.dynamic() if text == "..." else ov.PartialShape(f"[{text}]") for text in (data, indices)]
    try:
        stock = opset8.gather_nd(*(opset8.parameter(shape, np.int64) for shape in shapes), batch_dims)
        expected = PartialShape.parse(str(stock.get_output_partial_shape(0)).strip("[]"))
    except RuntimeError:
        expected = None
    try:
        assert inferred_shape(read(core, layer_model(data, indices, batch_dims))) == expected
    except RuntimeError:
        assert expected is None


@pytest.mark.sanitized
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    batch = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    tuples = shape[:batch] + data.draw(st.lists(st.integers(0, 4), max_size=2))
    rng = np.random.default_rng(0)
    sizes = np.array(shape[batch : batch + depth])
    table, where = rng.random(shape, np.float32), rng.integers(-sizes, sizes, (*tuples, depth))
    texts = [",".join(map(str, array.shape)) for array in (table, where)]
    result = evaluate(read(core, layer_model(*texts, batch)), F32, table, where)
    assert list(result.shape) == tuples + shape[batch + depth :]
    for place in np.ndindex(*shape[:batch]):
        assert np.array_equal(result[place], table[place][tuple(np.moveaxis(where[place], -1, 0))])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("data", "indices"), [("3,7,5,2", "3,10,2"), ("?,?,?,?", "?,?,2")])
def test_an_index_out_of_bounds_raises_and_the_request_goes_on(core, threads, data, indices):
    request = compiled(core, read(core, layer_model(data, indices, 1)), threads)
    table = np.arange(210, dtype=np.float32).reshape(3, 7, 5, 2)
    right = np.random.default_rng(0).integers(-5, 5, (3, 10, 2))
    expected = table[np.arange(3)[:, None], right[..., 0], right[..., 1]]
    for k, size in enumerate((7, 5)):
        for bad in (size, -size - 1, 2**31 - 1, -(2**31)):
            wrong = right.copy()
            wrong[2, 9, k] = bad
            reason = rf"GatherND 'gather': indices\[2, 9, {k}\] = {bad} is out of bounds for axis {k + 1} of size {size} \("
            with pytest.raises(RuntimeError, match=reason):
                infer(request, table, wrong)
            assert np.array_equal(infer(request, table, right), expected)


def test_tuples_of_no_coordinates_name_the_whole(core):
    table = random_values(F32, (3, 7))
    for indices in ("4,0", "?,0"):
        result = infer(compiled(core, read(core, layer_model("3,7", indices))), table, np.zeros((4, 0), np.int64))
        assert same_bits(result, np.broadcast_to(table, (4, 3, 7)))


def test_no_index_is_valid_for_an_axis_of_size_0(core):
    request = compiled(core, read(core, layer_model("?,?", "?,2")))
    with pytest.raises(RuntimeError, match="no index is valid"):
        infer(request, np.zeros((3, 0), np.float32), np.zeros((2, 2), np.int64))
    assert infer(request, np.zeros((3, 0), np.float32), np.zeros((0, 2), np.int64)).shape == (0,)


def test_round_trip(core, tmp_path):
    model = read(core, layer_model("3,7,5", "3,2,1", 1))
    ov.serialize(model, tmp_path / "m.xml")
    again = core.read_model(tmp_path / "m.xml")
    (layer,) = [op for op in again.get_ops() if op.get_type_name() == "GatherND"]
    assert (layer.get_type_info().version_id, layer.get_attributes()) == ("ov_gather", {"batch_dims": 1})
    table, where = np.arange(105, dtype=np.float32).reshape(3, 7, 5), np.array([[[6], [-7]], [[0], [1]], [[2], [3]]])
    expected = np.take_along_axis(table, where, 1)
    assert np.array_equal(infer(compiled(core, again), table, where), expected)


@pytest.mark.parametrize("batch_dims", [0, 1])
def test_onnx_is_read_as_ours(core, batch_dims):
    node = helper.make_node("GatherND", ["data", "indices"], ["output"], **({"batch_dims": 1} if batch_dims else {}))
    model = core.read_model(onnx_model([node], {"data": (TensorProto.FLOAT, [3, 4]), "indices": (TensorProto.INT64, [3, 1])}))
    assert opsets(model, "GatherND") == ["ov_gather"]
    request, table = compiled(core, model), np.arange(12, dtype=np.float32).reshape(3, 4)
    where = np.array([[2], [-1], [0]])
    expected = np.take_along_axis(table, where, 1)[:, 0] if batch_dims else table[where[:, 0]]
    assert np.array_equal(infer(request, table, where), expected)
    where[1] = 4
    with pytest.raises(RuntimeError, match=r"GatherND '.*': indices\[1, 0\] = 4 is out of bounds"):
        infer(request, table, where)


def test_onnx_strings(core):
    node = helper.make_node("GatherND", ["data", "indices"], ["output"])
    words = np.array([["a", "b"], ["ccc", ""]])
    request = compiled(
        core,
        core.read_model(onnx_model([node], {"data": (TensorProto.STRING, [2, 2]), "indices": (TensorProto.INT64, [3, 2])})),
    )
    assert infer(request, words, np.array([[1, 0], [0, -1], [1, 1]])).tolist() == ["ccc", "b", ""]
