"""Our Gather and GatherND inside OpenVINO: types, shapes, errors, zeros, threads, ONNX models that compute shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.inside_openvino import (
    WHOLE_BYTES,
    compiled,
    evaluate,
    infer,
    inferred_shape,
    one_layer,
    opsets,
    random_values,
    read,
    same_bits,
)
from helpers.saved_models import parsed
from ov_gather.ir.element_types import F32, I64, STRING


def layer_model(data, indices, axis=0, data_type=F32, **attributes):
    """`axis`: a number, an array of one, or None for a Parameter."""
    inputs = {"data": (data, data_type), "indices": (indices, I64)}
    if axis is None:
        return one_layer("Gather", {**inputs, "axis": ("", I64)}, attributes)
    return one_layer("Gather", inputs, attributes, {"axis": (np.array(axis, np.int64), I64)})


@pytest.mark.sanitized
@pytest.mark.parametrize("row", WHOLE_BYTES, ids=str)
def test_zeros_of_every_type(core, row):
    data, indices = random_values(row, (4, 3)), np.array([4, -5, 3, 2**31, -(2**63)])
    expected = np.full((5, 3), "", object) if row is STRING else np.zeros((5, 3), data.dtype)
    expected[2] = data[3]
    model = read(core, layer_model("4,3", "5", data_type=row, bounds="zero"))
    assert same_bits(evaluate(model, row, data, indices), expected)


@pytest.mark.parametrize("axis", [-2, [-2], None])
def test_axis_scalar_of_one_element_or_not_constant(core, axis):
    model = read(core, layer_model("3,7,5", "4", axis))
    assert str(inferred_shape(model)) == ("[?,?,?]" if axis is None else "[3,4,5]")
    data, indices = random_values(F32, (3, 7, 5)), np.array([0, -7, 6, -1])
    arrays = [indices, np.array(-2)] if axis is None else [indices]
    assert same_bits(evaluate(model, F32, data, *arrays), data[:, indices])
    assert same_bits(infer(compiled(core, model), data, *arrays), data[:, indices])


def tuples_model(data, indices, batch_dims=0):
    return one_layer("GatherND", {"data": (data, F32), "indices": (indices, I64)}, {"batch_dims": batch_dims})


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (layer_model("", "2"), "data is a scalar"),
        (layer_model("3,7", "2", 2), "axis 2 is out of range for rank 2 .valid -2..1."),
        (layer_model("3,7", "2", -3), "axis -3 is out of range"),
        (layer_model("3,7", "2", [0, 1]), "axis must be a scalar or of shape .1., not .2."),
        (layer_model("3,7", "3,2", 1, batch_dims=3), "batch_dims 3 is out of range for indices .3,2. .valid -2..2."),
        (layer_model("3,7", "3,2", 1, batch_dims=-3), "batch_dims -3 is out of range"),
        (layer_model("3,7", "3,2", 0, batch_dims=1), "batch_dims 1 exceeds axis 0"),
        (layer_model("3,7", "2,2", 1, batch_dims=1), "differ in dimension 0, which is one of 1 batch_dims"),
        (layer_model("3,7", "2", bounds="wrap"), "bounds must be 'error' or 'zero', not 'wrap'"),
        (tuples_model("", "2,1"), "must have a rank of at least 1"),
        (tuples_model("3,7", ""), "must have a rank of at least 1"),
        (tuples_model("3,7", "3,2", -1), "batch_dims -1 is negative"),
        (tuples_model("3,7", "3", 1), "batch_dims 1 must be less than the ranks of data .3,7. and indices .3."),
        (tuples_model("3,7", "2,1", 1), "differ in dimension 0, which is one of 1 batch_dims"),
        (tuples_model("3,7", "3,2", 1), "tuples of 2 coordinates index data .3,7. behind 1 batch_dims"),
    ],
)
def test_what_does_not_fit(core, model, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, model)


@pytest.mark.sanitized
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = data.draw(st.integers(0, len(shape) - 1))
    batch = data.draw(st.integers(0, axis))
    indices_shape = shape[:batch] + data.draw(st.lists(st.integers(0, 4), max_size=2))
    rng = np.random.default_rng(0)
    table, where = rng.random(shape, np.float32), rng.integers(-shape[axis], shape[axis], indices_shape)
    given_batch = batch - data.draw(st.sampled_from([0, where.ndim])) if batch < where.ndim else batch
    sizes = [",".join(map(str, sizes)) for sizes in (shape, indices_shape)]
    model = read(core, layer_model(*sizes, axis - data.draw(st.sampled_from([0, len(shape)])), batch_dims=given_batch))
    result = evaluate(model, F32, table, where)
    assert list(result.shape) == shape[:axis] + indices_shape[batch:] + shape[axis + 1 :]
    for place in np.ndindex(*shape[:batch]):
        assert np.array_equal(result[place], np.take(table[place], where[place], axis - batch))


def test_the_position_is_that_of_the_index(core):
    request = compiled(core, read(core, layer_model("2,3,7,5", "2,4,6", 2, batch_dims=1)))
    indices = np.zeros((2, 4, 6), np.int64)
    indices[1, 3, 5] = 7
    with pytest.raises(RuntimeError, match=r"indices\[1, 3, 5\] = 7 is out of bounds for axis 2 of size 7"):
        infer(request, np.zeros((2, 3, 7, 5), np.float32), indices)
    request = compiled(core, read(core, layer_model("7", "")))
    with pytest.raises(RuntimeError, match=r"indices\[\] = 7 is out of bounds"):
        infer(request, np.zeros(7, np.float32), np.array(7))


@pytest.mark.parametrize("threads", [1, 2])
def test_zeros_out_of_bounds(core, threads):
    request = compiled(core, read(core, layer_model("4,3", "?", bounds="zero")), threads)
    table = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    result = infer(request, table, np.array([0, 4, -1, -5]))
    assert result.tolist() == [table[0].tolist(), [0] * 3, table[3].tolist(), [0] * 3]


@pytest.mark.parametrize("sizes", [("3,0", "2"), ("?,?", "?")])
def test_no_index_is_valid_for_an_axis_of_size_0(core, sizes):
    data, indices = np.zeros((3, 0), np.float32), np.zeros(2, np.int64)
    with pytest.raises(RuntimeError, match=r"indices\[0\] = 0 is out of bounds for axis 1 of size 0 \(no index is valid\)"):
        infer(compiled(core, read(core, layer_model(*sizes, 1))), data, indices)
    assert infer(compiled(core, read(core, layer_model(*sizes, 1, bounds="zero"))), data, indices).tolist() == [[0, 0]] * 3
    assert infer(compiled(core, read(core, layer_model("?,?", "?", 1))), data, indices[:0]).shape == (3, 0)


@pytest.mark.parametrize("cast", [False, True], ids=["", "cast"])
@pytest.mark.parametrize(("given", "kept"), [("2, 3, 4, 5", "[2,3,2]"), ("n, 3, h, w", "[?,3,2]")])
def test_arithmetic_on_shapes_stays_known(core, cast, given, kept):
    """Gathers in Shape -> Gather -> Concat -> Reshape stay stock ones, through which OpenVINO propagates values."""
    first = "shape = Shape(image) whole = Cast<to = 6>(shape)" if cast else "whole = Shape(image)"
    text = f"""(float[{given}] image, int64[2] indices) => (float[] output) {{
        {first} n = Gather(whole, zero) c = Gather(whole, one) batch = Unsqueeze(n, axes)
        two = Concat<axis = 0>(batch, c) wide = Cast<to = 7>(two) sizes = Concat<axis = 0>(wide, minus)
        flat = Reshape(image, sizes) output = Gather<axis = 2>(flat, indices) }}"""
    proto = parsed(text, 13, zero=0, one=[1], axes=[0], minus=[-1])
    model = core.read_model(proto.SerializeToString())
    assert sorted(opsets(model, "Gather")) == ["opset8", "opset8", "ov_gather"]
    assert str(inferred_shape(model)) == kept
    image, where = np.random.default_rng(0).random((2, 3, 4, 5), np.float32), np.array([19, -20])
    assert np.array_equal(infer(compiled(core, model), image, where), image.reshape(2, 3, 20)[..., where])


def test_integers_that_are_no_shape_are_ours(core):
    proto = parsed("(int64[9] data, int64[2] indices) => (int64[] output) { output = Gather(data, indices) }", 13)
    assert opsets(core.read_model(proto.SerializeToString()), "Gather") == ["ov_gather"]


@pytest.mark.sanitized
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_tuples_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    batch = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    tuples = shape[:batch] + data.draw(st.lists(st.integers(0, 4), max_size=2))
    rng = np.random.default_rng(0)
    sizes = np.array(shape[batch : batch + depth])
    table, where = rng.random(shape, np.float32), rng.integers(-sizes, sizes, (*tuples, depth))
    texts = [",".join(map(str, array.shape)) for array in (table, where)]
    result = evaluate(read(core, tuples_model(*texts, batch)), F32, table, where)
    assert list(result.shape) == tuples + shape[batch + depth :]
    for place in np.ndindex(*shape[:batch]):
        assert np.array_equal(result[place], table[place][tuple(np.moveaxis(where[place], -1, 0))])


def test_tuples_of_no_coordinates_name_the_whole(core):
    table = random_values(F32, (3, 7))
    for indices in ("4,0", "?,0"):
        result = infer(compiled(core, read(core, tuples_model("3,7", indices))), table, np.zeros((4, 0), np.int64))
        assert same_bits(result, np.broadcast_to(table, (4, 3, 7)))
