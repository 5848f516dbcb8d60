"""Where OpenVINO gives out what happens to be in memory, nothing is claimed of what it computes."""

import pytest
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.openvino_models import looked_up, made_of, number
from ov_gather import prove


def test_an_axis_that_is_squeezed_has_an_element():
    """OpenVINO makes one element of an axis of none, which is whatever lies in memory."""
    (proof,) = prove(made_of(lambda x: looked_up(4, ops.squeeze(ops.clamp(x, 0, 3), number(0))), x="i32[?]"))
    assert dict(proof.requires) == {"dim(x, 0)": (1, None)}


@pytest.mark.parametrize(
    ("x", "new_axis", "status", "requires"),
    [
        # OpenVINO takes an axis of no elements for one of one element, which is whatever lies in memory.
        ("i32[?,4]", [0, 0], "conditional", {"dim(x, 0)": (1, None)}),
        ("i32[3,4]", [0, 0], "proved", {}),
        ("i32[1..9,4]", [0, 0], "proved", {}),
        # A slice both adds and removes axes: the plugin fills one element of each row, and leaves the others as they were.
        ("i32[3,4]", [0, 1], "unknown", {}),
    ],
)
def test_an_axis_that_is_shrunk(x, new_axis, status, requires):
    (proof,) = prove(
        made_of(
            lambda x: looked_up(
                4, ops.strided_slice(ops.clamp(x, 0, 3), [0, 0], [1, 1], [1, 1], [0, 0], [0, 0], new_axis, [1, 0])
            ),
            x=x,
        )
    )
    assert (proof.status, dict(proof.requires)) == (status, requires)


@pytest.mark.parametrize(
    ("second", "is_open", "status"), [("?", True, "unknown"), ("9", True, "proved"), ("?", False, "proved")]
)
def test_nothing_is_known_of_an_if_with_two_outputs_of_open_sizes(second, is_open, status):
    """When a branch is executed for the first time, the plugin gives out memory of the first output that it has freed."""

    def make(x, y, condition):
        branches = [lambda one, other, highest=highest: [ops.clamp(one, 0, highest), ops.relu(other)] for highest in (2, 3)]
        index, rest = if_of(condition if is_open else ops.constant(True), [x, y], *branches)
        return looked_up(4, index), ops.sign(rest)

    (proof,) = prove(made_of(make, x="i32[?]", y=f"i32[{second}]", condition="boolean[]"))
    assert proof.status == status
