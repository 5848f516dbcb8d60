"""The specifications of our operations on numbers in lanes: shapes, sizes, indices, values."""

import numpy as np
import pytest

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import reference
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM
from ov_gather.ops.spec import DimensionError

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
    judged = reference.evaluate(GATHER_ELEMENTS_CUSTOM, [lanes, indices], attributes)
    for found in (output, judged):
        assert (found.shape, found.tobytes()) == ((*expected.shape, 2), expected.tobytes())
