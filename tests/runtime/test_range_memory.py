"""Where OpenVINO gives out what happens to be in memory, nothing is claimed of what it computes."""

from collections.abc import Sequence

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from ov_gather import prove


def number(value: int) -> ov.Node:
    return ops.constant(np.array(value, np.int32))


def test_an_axis_that_is_squeezed_has_an_element() -> None:
    """OpenVINO makes one element of an axis of none, which is whatever lies in memory."""
    x = ops.parameter([-1], np.int32)
    x.output(0).set_names({"x"})
    index = ops.squeeze(ops.clamp(x, 0, 3), number(0))
    (proof,) = prove(ov.Model([ops.gather(ops.constant(np.zeros((4, 2))), index, number(0))], [x], "m"))
    assert dict(proof.requires) == {"dim(x, 0)": (1, None)}


def row_of(x: ov.Node, new_axis: Sequence[int], shrunk: Sequence[int]) -> ov.Node:
    """A part of x by a StridedSlice from 0 to 1 along two axes."""
    begin, end, step = (ops.constant(np.array([place, place])) for place in (0, 1, 1))
    return ops.strided_slice(x, begin, end, step, [0, 0], [0, 0], new_axis, shrunk)


@pytest.mark.parametrize(
    ("sizes", "status", "requires"),
    [([-1, 4], "conditional", {"dim(x, 0)": (1, None)}), ([3, 4], "proved", {}), ([ov.Dimension(1, 9), 4], "proved", {})],
)
def test_an_axis_that_is_shrunk_has_an_element(sizes: list[int], status: str, requires: dict[str, object]) -> None:
    """OpenVINO takes an axis of no elements for one of one element, which is whatever lies in memory."""
    x = ops.parameter(sizes, np.int32)
    x.output(0).set_names({"x"})
    index = row_of(ops.clamp(x, 0, 3), [0, 0], [1, 0])
    (proof,) = prove(ov.Model([ops.gather(ops.constant(np.zeros((4, 2))), index, number(0))], [x], "m"))
    assert (proof.status, dict(proof.requires)) == (status, requires)


@pytest.mark.parametrize("new_axis", [[0, 1], [0, 0]])
def test_nothing_is_known_where_one_slice_both_adds_and_removes_axes(new_axis: list[int]) -> None:
    """The plugin fills one element of each row then, and leaves the others as they were in memory."""
    x = ops.parameter([3, 4], np.int32)
    index = row_of(ops.clamp(x, 0, 3), new_axis, [1, 0])
    (proof,) = prove(ov.Model([ops.gather(ops.constant(np.zeros((4, 2))), index, number(0))], [x], "m"))
    assert proof.status == ("unknown" if any(new_axis) else "proved")


@pytest.mark.parametrize(
    ("second", "is_open", "status"), [([-1], True, "unknown"), ([9], True, "proved"), ([-1], False, "proved")]
)
def test_nothing_is_known_of_an_if_with_two_outputs_of_open_sizes(second: list[int], is_open: bool, status: str) -> None:
    """When a branch is executed for the first time, the plugin gives out memory of the first output that it has freed."""
    x, y, condition = ops.parameter([-1], np.int32), ops.parameter(second, np.int32), ops.parameter([], np.bool_)
    branches = [lambda one, other, highest=highest: [ops.clamp(one, 0, highest), ops.relu(other)] for highest in (2, 3)]
    index, rest = if_of(condition if is_open else ops.constant(True), [x, y], *branches)
    results = [ops.gather(ops.constant(np.zeros((4, 2))), index, number(0)), ops.sign(rest)]
    (proof,) = prove(ov.Model(results, [x, y, condition], "m"))
    assert proof.status == status
