"""Between which bounds the integers of a value lie: against what OpenVINO computes."""

from __future__ import annotations

from math import inf

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset13 as ops

from ov_gather.acceleration.ranges import value_range

BINARY = [ops.add, ops.subtract, ops.multiply, ops.minimum, ops.maximum]
DIVISIONS = [ops.divide, ops.floor_mod, ops.mod]  # not by zero, which ends OpenVINO's process


def integer(bound):
    return ops.constant(np.array([bound], np.int64))


def clamped(x, bounds):
    low, high = sorted(bounds)
    return ops.clamp(x, low, high)


def expressions(x):
    """Computed from a Parameter and constants, each through what may be between."""
    small = st.integers(-9, 9)
    leaves = st.one_of(small.map(integer), st.just(x), st.tuples(small, small).map(lambda bounds: clamped(x, bounds)))

    def combine(inner):
        binary = st.builds(lambda work, one, other: work(one, other), st.sampled_from(BINARY), inner, inner)
        divided = st.builds(lambda work, one, by: work(one, integer(by)), st.sampled_from(DIVISIONS), inner, st.integers(1, 9))
        chosen = st.builds(lambda one, other: ops.select(ops.less(x, integer(0)), one, other), inner, inner)
        joined = st.builds(
            lambda one, other: ops.gather(ops.concat([one, other], 0), integer(1), ops.constant(0)), inner, inner
        )
        return st.one_of(
            binary, divided, chosen, joined.map(lambda node: ops.squeeze(ops.unsqueeze(node, integer(0)), integer(0)))
        )

    return st.recursive(leaves, combine, max_leaves=6)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_value_is_outside(data):
    x = ops.parameter([1], np.int64)
    expression = data.draw(expressions(x))
    low, high = value_range(expression.output(0))
    assert low <= high
    compiled = ov.Core().compile_model(ov.Model([expression], [x], "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for value in (-(2**31), -30, -1, 0, 1, 2, 30, 2**24 + 1, 2**31 - 1):
        found = compiled([np.array([value])])[0]
        assert all(low <= it <= high for it in found)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: x, (-inf, inf)),
        (lambda x: ops.clamp(x, 0, 6), (0, 6)),
        (lambda x: ops.minimum(ops.maximum(ops.clamp(x, -20, 9), integer(-7)), integer(6)), (-7, 6)),
        (lambda x: ops.maximum(x, integer(0)), (-inf, inf)),
        (lambda x: ops.add(ops.clamp(x, 0, 6), integer(1)), (1, 7)),
        (lambda x: ops.add(x, integer(1)), (-inf, inf)),
        (lambda x: ops.topk(x, ops.constant(2), 0, "max", "value").output(1), (0, 8)),
        (lambda x: ops.topk(x, ops.constant(2), 0, "max", "value").output(0), (-inf, inf)),
        (lambda x: ops.divide(ops.topk(x, ops.constant(2), 0, "max", "value").output(1), ops.constant(np.int32(3))), (0, 2)),
        (lambda x: ops.range(ops.constant(2), ops.constant(9), ops.constant(3), "i64"), (2, 8)),
        (lambda x: ops.convert(ops.less(x, integer(0)), "i64"), (0, 1)),
        (lambda x: ops.gather(ops.constant(np.array([3, 4])), x, ops.constant(0)), (0, 4)),
        (lambda x: ops.constant(np.zeros(0, np.int64)), (-inf, inf)),
    ],
)
def test_bounds(make, expected):
    made = make(ops.parameter([9], np.int64))
    assert value_range(made if isinstance(made, ov.Output) else made.output(0)) == expected


def test_a_maximum_that_is_not_bounded_above_is_not_bounded_below():
    """The CPU plugin computes this in float32, in which the greatest integer is one too large."""
    x = ops.parameter([1], np.int64)
    expression = ops.select(ops.less(x, integer(0)), integer(0), ops.maximum(integer(0), x))
    compiled = ov.Core().compile_model(ov.Model([expression], [x], "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    assert compiled([np.array([2**31 - 1])])[0][0] < 0
    assert value_range(expression.output(0)) == (-inf, inf)


def test_a_remainder_of_what_float32_cannot_hold_is_not_bounded():
    """The CPU plugin computes it in float32: -128 to 128 of a division by 7."""
    x = ops.parameter([2000], np.int64)
    remainder = ops.floor_mod(x, integer(7))
    compiled = ov.Core().compile_model(ov.Model([remainder], [x], "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    assert compiled([np.arange(2**31 - 2000, 2**31)])[0].max() > 6
    assert value_range(remainder.output(0)) == (-inf, inf)
    assert value_range(ops.floor_mod(ops.clamp(x, -1000, 1000), integer(7)).output(0)) == (0, 6)
