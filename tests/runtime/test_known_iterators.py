"""A TensorIterator whose slices the plugin takes from elsewhere is reported if, and only if, the result is wrong."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import named, number

DATA = np.float32([1, 2, 4, 7, 11, 16])
SIZE = len(DATA)


def iterator(start, stride, part_size, end, dims):
    """A TensorIterator that folds slices of a vector into a number, in their order."""
    data, part, state = named("data", f"f32[{dims}]"), named("part", f"f32[{part_size}]"), named("state", "f32[1]")
    weighted = ops.multiply(part, number(np.arange(1, part_size + 1), np.float32))
    following = ops.add(ops.multiply(state, number([3], np.float32)), ops.reduce_sum(weighted, number([0]), True))
    node = ops.tensor_iterator()
    node.set_body(ov.Model([ops.result(following)], [part, state], "body"))
    node.set_sliced_input(part, data.output(0), start, stride, part_size, end, 0)
    node.set_merged_input(state, number([0], np.float32).output(0), following.output(0))
    return ov.Model([ops.result(node.get_iter_value(following.output(0), -1))], [data], "model")


def folded(start, stride, part_size, end):
    """What TensorIterator-1 says."""
    first, last = (place + SIZE + 1 if place < 0 else place for place in (start, end))
    number = np.float32(0)
    for place in range(first, last, stride):
        part = DATA[place:][:part_size] if stride > 0 else DATA[:place][-part_size:]
        number = number * 3 + part @ np.arange(1, part_size + 1, dtype=np.float32)
    return np.float32([number])


@pytest.mark.parametrize("dims", [SIZE, "?"])
@pytest.mark.parametrize(
    "slices",
    [
        *((0, 1, 1, -1), (0, 1, 1, 3), (0, 2, 2, -1), (0, 2, 1, -1), (0, 3, 2, -1), (0, 2, 2, 4)),
        *((-1, -1, 1, 0), (-1, -2, 2, 0), (-1, -1, 1, 2), (-1, -2, 2, 2)),
        *((1, 1, 1, -1), (2, 2, 2, -1), (-4, 1, 1, -1), (0, 1, 2, -2), (-2, -1, 1, 0), (-3, -2, 2, 0), (-1, -2, 1, 0)),
    ],
    ids=str,
)
def test_slices_that_begin_within_the_axis(slices, dims, agrees):
    agrees(iterator(*slices, dims), None, [DATA], [folded(*slices)])


@pytest.mark.parametrize("slices", [(-7, 2, 2, -1), (6, -3, 3, 0)], ids=str)
def test_an_end_of_the_axis_has_two_names(slices, agrees):
    agrees(iterator(*slices, SIZE), None, [DATA], [folded(*slices)])
