"""ScatterUpdate, ScatterNDUpdate and our operations on numbers in lanes: what they compute, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.chosen_sizes import check_chosen_sizes
from helpers.pairwise import pairs
from ov_gather.ir.model import Layer, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import versions_of
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.reference import evaluate as reference
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3
from ov_gather.ops.spec import DimensionError, RankError
from ov_gather.runtimes.kernel import execute

SCALAR = ""


def inferred(operation, *shapes, **attributes):
    (output,) = operation.infer_shapes([PartialShape.parse(shape) for shape in shapes], attributes)
    operation.restrict([PartialShape.parse(shape) for shape in shapes], attributes)
    return str(output)


def layer_of(operation, *arrays, **attributes):
    ports = [Port(i, array.shape) for i, array in enumerate(arrays)]
    return Layer(0, "layer", operation.type, operation.opsets[0], attributes, tuple(ports), (Port(9, arrays[0].shape),))


@pytest.mark.parametrize(
    ("shapes", "axis", "error", "text", "hint"),
    [
        (("3,4", "2", "2", SCALAR), 0, RankError, "updates [2] have rank 1, data [3,4] and indices [2]", "must be 2: the"),
        (("3,4", "2", "2,4", SCALAR), 1, DimensionError, "updates [2,4] do not fit data [3,4] and indices [2]", "axis 1 make"),
        (("3,4", "2", "3,2,4", SCALAR), 1, RankError, "updates [3,2,4] have rank 3", "must be 2"),
        (("3,4", "2", "2,4", SCALAR), 2, RankError, "axis 2 is out of range for rank 2", "it may be -2 to 1"),
        (("3,4", "2", "2,4", "2"), None, RankError, "axis has shape [2]", "it must be a scalar or of shape [1]"),
        (("", "2", "...", SCALAR), None, RankError, "data is a scalar", "ScatterUpdate takes data of rank 1 or more"),
    ],
)
def test_scatter_update_refuses(shapes, axis, error, text, hint):
    attributes = {} if axis is None else {"axis": axis}
    with pytest.raises(error) as caught:
        inferred(SCATTER_UPDATE_3, *shapes, **attributes)
    assert text in caught.value.reason
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("shapes", "error", "text", "hint"),
    [
        (("", "2,1", "2"), RankError, "data is a scalar", "ScatterNDUpdate takes tensors of rank 1 or more"),
        (("3,4", "", "..."), RankError, "indices is a scalar", "ScatterNDUpdate takes tensors of rank 1 or more"),
        (("3,4", "2,3", "2"), DimensionError, "tuples of 3 coordinates exceed the rank of data [3,4]", "at most data's rank"),
        (("3,4", "2,1", "2"), RankError, "updates [2] do not fit data [3,4] and indices [2,1]", "make them [2,4]"),
        (("3,4", "2,1", "2,3"), DimensionError, "updates [2,3] do not fit data [3,4] and indices [2,1]", "make them [2,4]"),
        (("3,4", "2,1", "3,4"), DimensionError, "updates [3,4] do not fit data [3,4] and indices [2,1]", "make them [2,4]"),
        (("4", "1", "3"), DimensionError, "updates [3] have several elements for one place", "make them a scalar"),
    ],
)
@pytest.mark.parametrize("operation", [SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15], ids=lambda operation: operation.name)
def test_scatter_nd_update_refuses(operation, shapes, error, text, hint):
    with pytest.raises(error) as caught:
        inferred(operation, *shapes)
    assert text in caught.value.reason
    assert hint in caught.value.hint


@pairs(axis=[0, 1, -1], shape=[(), (4,), (2, 3)], dtype=["f4", "u1", "f8", "c16", "O"], ids=str)
def test_scatter_update_writes_in_order(axis, shape, dtype, rng):
    data = rng.integers(0, 99, (3, 5, 4)).astype(dtype)
    indices = rng.integers(-data.shape[axis], data.shape[axis], shape)
    before = axis % 3
    updates = rng.integers(0, 99, (*data.shape[:before], *shape, *data.shape[before + 1 :])).astype(dtype)
    expected = np.moveaxis(data.copy(), axis, 0)
    values = np.moveaxis(updates, list(range(before, before + len(shape))), list(range(len(shape))))
    for place in np.ndindex(*shape):
        expected[indices[place]] = values[place]
    (found,) = SCATTER_UPDATE_3.evaluate([data, indices, updates, np.array(axis)], {"axis": axis})
    assert np.array_equal(found, np.moveaxis(expected, 0, axis))
    assert np.array_equal(reference(SCATTER_UPDATE_3, [data, indices, updates, np.array(axis)], {"axis": axis}), found)


FUNCTIONS = {
    "none": lambda old, new: new,
    "sum": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "prod": lambda old, new: old * new,
    "min": min,
    "max": max,
}


@pairs(reduction=FUNCTIONS, dtype=["f4", "f2", "u1", "u8", "i8", "i2"], depth=[1, 2])
def test_scatter_nd_update_reduces_in_order(reduction, dtype, depth, rng):
    data = rng.integers(0, 9, (3, 4)).astype(dtype)
    indices = rng.integers(-3, 3, (2, 5, depth))
    updates = rng.integers(0, 9, (2, 5, *data.shape[depth:])).astype(dtype)
    expected = data.copy()
    for place in np.ndindex(2, 5):
        for behind in np.ndindex(*data.shape[depth:]):
            at = (*indices[place], *behind)
            with np.errstate(over="ignore"):
                expected[at] = FUNCTIONS[reduction](expected[at], updates[(*place, *behind)])
    (found,) = SCATTER_ND_UPDATE_15.evaluate([data, indices, updates], {"reduction": reduction})
    assert found.tobytes() == expected.tobytes()
    assert reference(SCATTER_ND_UPDATE_15, [data, indices, updates], {"reduction": reduction}).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("reduction", "function"),
    [("sum", "or"), ("sub", "xor"), ("prod", "and"), ("min", "and"), ("max", "or"), ("none", "none")],
)
def test_scatter_nd_update_reduces_booleans(reduction, function):
    data = np.array([False, True, False, True])
    indices, updates = np.array([[0], [1], [2], [3], [2]]), np.array([True, True, True, False, True])
    expected = {"or": [1, 1, 1, 1], "xor": [1, 0, 0, 1], "and": [0, 1, 0, 0], "none": [1, 1, 1, 0]}[function]
    operands, attributes = [data, indices, updates], {"reduction": reduction}
    assert SCATTER_ND_UPDATE_15.evaluate(operands, attributes)[0].tolist() == [bool(bit) for bit in expected]
    assert reference(SCATTER_ND_UPDATE_15, operands, attributes).tolist() == [bool(bit) for bit in expected]


def test_a_tuple_without_coordinates_names_the_whole():
    data, updates = np.zeros((2, 3)), np.arange(12.0).reshape(2, 2, 3)
    (found,) = SCATTER_ND_UPDATE_3.evaluate([data, np.zeros((2, 0), np.int64), updates], {})
    assert np.array_equal(found, updates[1])


def test_one_element_may_have_any_rank():
    (found,) = SCATTER_ND_UPDATE_3.evaluate([np.zeros(3), np.array([1]), np.full((1, 1), 7.0)], {})
    assert found.tolist() == [0, 7, 0]


def test_out_of_bounds():
    data = np.zeros((3, 4), np.float32)
    updates, axis = np.zeros((3, 2, 2), np.float32), np.array(1)
    layer = layer_of(SCATTER_UPDATE_3, data, np.zeros((2, 2)), updates, axis)
    for dtype, value in ((np.int64, 4), (np.int64, -5), (np.uint64, 2**64 - 1)):
        indices = np.array([[0, 1], [value, 2]], dtype)
        with pytest.raises(IndexError, match=r"scatter_update: indices\[1, 0\] = -?\d+ is out of bounds for axis 1 of size 4"):
            execute(layer, [data, indices, updates, axis])
    layer = layer_of(SCATTER_ND_UPDATE_15, data, np.zeros((1, 2)), np.zeros(1), reduction="sub")
    with pytest.raises(IndexError, match=r"indices\[0, 1\] = 4 is out of bounds for axis 1 of size 4 \(valid -4..3\)"):
        execute(layer, [data, np.array([[2, 4]]), np.ones(1, np.float32)])


def test_only_pages_of_older_versions_forbid_negative_indices():
    lowest = {operation.name: operation.index_rule.lowest_specified(5) for operation in versions_of("ScatterNDUpdate")}
    assert lowest == {"ScatterNDUpdate-3": 0, "ScatterNDUpdate-15": -5}
    assert SCATTER_UPDATE_3.index_rule.lowest_specified(5) == 0
    for operation in (SCATTER_ND_UPDATE_3, SCATTER_UPDATE_3):
        assert "negative indices" in operation.index_rule.negative


DIMS = st.sampled_from(["?", "1", "2", "3", "1..3", "2..", "..4"])


def shapes_of(rank):
    return st.one_of(st.just("..."), st.lists(DIMS, min_size=rank, max_size=rank).map(",".join))


@pytest.mark.sampled(1)
@settings(max_examples=300, deadline=None)
@given(st.data())
@pytest.mark.parametrize("operation", [SCATTER_UPDATE_3, SCATTER_ND_UPDATE_15], ids=lambda operation: operation.name)
def test_chosen_sizes_are_valid_and_among_those_declared(operation, data):
    rank, index_rank = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 3))
    depth = data.draw(st.integers(0, rank))
    shapes = [data.draw(shapes_of(rank)), data.draw(shapes_of(index_rank))]
    attributes = {}
    if operation is SCATTER_UPDATE_3:
        shapes += [data.draw(shapes_of(rank + index_rank - 1)), SCALAR]
        if data.draw(st.booleans()):
            attributes["axis"] = data.draw(st.integers(-rank, rank - 1))
    else:
        if shapes[1] not in ("...", ""):
            shapes[1] = ",".join([*shapes[1].split(",")[:-1], data.draw(st.sampled_from(["?", str(depth)]))])
        shapes.append(data.draw(shapes_of(max(0, index_rank - 1 + rank - depth))))
    chosen, output = check_chosen_sizes(operation, [PartialShape.parse(shape) for shape in shapes], attributes)
    assert output == chosen[0]


CASES = {
    "elements": (SCATTER_ELEMENTS_CUSTOM, ("4,5,2", "4,9", "4,9,2"), {"axis": "-1"}, (5,)),
    "nd": (SCATTER_ND_CUSTOM, ("4,5,2", "9,1", "9,5,2"), {}, (4,)),
}


def parsed(shapes):
    return [PartialShape.parse(shape) for shape in shapes]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["i64", "u64", "f64", "c64", "c128"])
def test_numbers_in_lanes(name, dtype, rng):
    operation, texts, attributes, sizes = CASES[name]
    count = 4 if dtype == "c128" else 2
    shapes = parsed([texts[0][:-1] + str(count), texts[1], texts[2][:-1] + str(count)])
    read = operation.read_attributes({**attributes, "lanes": dtype, "reduction": "add"}, shapes)
    assert [str(shape) for shape in operation.infer_shapes(shapes, read)] == [str(shapes[0])]
    assert operation.index_rule.sizes(shapes, read) == sizes
    assert operation.choose_sizes(shapes, read, 7) == tuple(shape.sizes for shape in shapes)
    numbers = {"i64": "int64", "u64": "uint64", "f64": "float64", "c64": "complex64", "c128": "complex128"}[dtype]
    data, updates = (rng.integers(2**40, 2**41, shape.sizes[:-1]).astype(numbers) for shape in (shapes[0], shapes[2]))
    indices = rng.integers(-4, 4, shapes[1].sizes)
    expected = data.copy()
    for at in np.ndindex(*(indices.shape if name == "elements" else indices.shape[:-1])):
        expected[(*at[:-1], indices[at]) if name == "elements" else tuple(indices[at])] += updates[at]
    lanes = [array.view(np.int32).reshape(*array.shape, count) for array in (data, updates)]
    (output,) = operation.evaluate([lanes[0], indices, lanes[1]], read)
    assert output.tobytes() == expected.tobytes()
    assert (output.dtype, output.shape) == (np.int32, lanes[0].shape)


@pytest.mark.parametrize("name", CASES)
def test_there_must_be_as_many_lanes_as_a_number_has(name):
    operation, texts, attributes, _ = CASES[name]
    shapes = parsed([texts[0], texts[1], texts[2][:-1] + "3"])
    read = operation.read_attributes({**attributes, "lanes": "i64"}, shapes)
    with pytest.raises(DimensionError, match=r"the last dimension of .* is not 2"):
        operation.infer_shapes(shapes, read)


@pytest.mark.parametrize("axis", ["1", "-2"])
@pytest.mark.parametrize("broadcast", ["false", "true"])
def test_a_gather_of_numbers_in_lanes(axis, broadcast, rng):
    numbers = rng.integers(2**40, 2**41, (4, 5))
    indices = rng.integers(-5, 5, (1 if broadcast == "true" else 3, 7))
    lanes = numbers.view(np.int32).reshape(4, 5, 2)
    attributes = GATHER_ELEMENTS_CUSTOM.read_attributes(
        {"axis": axis, "lanes": "true", "broadcast": broadcast}, [PartialShape.of(lanes.shape), PartialShape.of(indices.shape)]
    )
    expanded = np.broadcast_to(indices, (4, 7)) if broadcast == "true" else indices
    expected = np.take_along_axis(numbers[: len(expanded)], expanded, 1)
    (output,) = GATHER_ELEMENTS_CUSTOM.evaluate([lanes, indices], attributes)
    judged = reference(GATHER_ELEMENTS_CUSTOM, [lanes, indices], attributes)
    for found in (output, judged):
        assert (found.shape, found.tobytes()) == ((*expected.shape, 2), expected.tobytes())
