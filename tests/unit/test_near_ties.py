"""Picks that are up to rounding: among near numbers, and equal ones that the conversion does not have equal."""

import numpy as np
import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.crosscheck.models.outputs import near_ties, scores

TEXT = """(float[4] s) => (float[K] v, int64[K] i, int64[1] a) <int64[1] k = {K}> {
    v, i = TopK <axis = 0, largest = LARGEST> (s, k) a = ArgMax <axis = 0> (t) }"""


class Known:
    """A runtime that is not asked: all scores are inputs."""


def excused(numbers, converted, k=2, largest=1):
    text = TEXT.replace("[K]", f"[{k}]").replace("{K}", f"{{{k}}}").replace("LARGEST", str(largest)).replace("(t)", "(s)")
    model = onnx_ir.from_proto(parsed(text))
    here = {} if converted is None else {"s": np.float32(converted)}
    assert [(node.op_type, value.name) for node, value in scores(model)] == [("TopK", "s"), ("ArgMax", "s")]
    return set(near_ties(model, {"s": np.float32(numbers)}, Known(), here))


NEAR = 1 + 1e-6


@pytest.mark.parametrize(
    ("numbers", "converted", "names"),
    [
        ([4, 3, 2, 1], None, ""),
        ([4e-9, 3e-9, 2e-9, 1e-9], None, ""),
        ([4, 4 * NEAR, 2, 1], None, "via"),
        ([4, 3, 3 * NEAR, 1], None, "vi"),  # the last that TopK picks, and the first that it does not
        ([4, 3, 2, 2 * NEAR], None, ""),
        ([4, 4, 2, 1], None, ""),  # equal in the conversion, too, for all that is known
        ([4, 4, 2, 1], [4, 4, 2, 1], ""),
        ([4, 4, 2, 1], [4, 4 * NEAR, 2, 1], "via"),
        ([4, 4 * NEAR, 2, 1], [4, 4 * NEAR, 2, 1], ""),  # rounding has changed nothing
        ([4, 4 * NEAR, 2, 1], [4, 4, 2, 1], "via"),
    ],
)
def test_picks_of_the_largest(numbers, converted, names):
    assert excused(numbers, converted) == set(names)


@pytest.mark.parametrize(("numbers", "names"), [([1, 2, 2 * NEAR, 4], "vi"), ([1, 3, 4, 4 * NEAR], "a")])
def test_picks_of_the_least(numbers, names):
    """ArgMax still picks the largest."""
    assert excused(numbers, None, largest=0) == set(names)


def test_all_numbers_are_picked():
    assert excused([4, 3, 2, 2 * NEAR], None, k=4) == {"v", "i"}


@pytest.mark.parametrize(
    ("call", "is_near"),
    [
        ("ArgMax (s)", False),  # along the first axis
        ("ArgMax <axis = 1> (s)", True),
        ("ArgMin (s)", False),
        ("ArgMin <axis = -1> (s)", False),  # the smallest stands out
        ("ArgMin <axis = -1> (negated)", True),
    ],
)
def test_picks_along_an_axis(call, is_near):
    head = "(float[2, 3] s, float[2, 3] negated) => (int64[1, 3] a)"
    text = f"{head} {{ a = {call} }}"
    model = onnx_ir.from_proto(parsed(text))
    numbers = np.float32([[1, 4, 4 * NEAR], [2, 5, 9]])
    assert bool(near_ties(model, {"s": numbers, "negated": -numbers}, Known(), {})) == is_near


def test_the_largest_along_the_last_axis_are_picked():
    text = """(float[2, 3] s) => (float[2, 1] v, int64[2, 1] i) <int64[1] k = {1}> {
        v, i = TopK (s, k) }"""
    model = onnx_ir.from_proto(parsed(text))
    near, far = [[1, 4, 4 * NEAR], [2, 5, 9]], [[4, 1, 9], [4 * NEAR, 5, 2]]
    assert near_ties(model, {"s": np.float32(near)}, Known(), {})
    assert not near_ties(model, {"s": np.float32(far)}, Known(), {})
