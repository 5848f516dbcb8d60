"""The bounds between which the integers of a value lie, compared with what OpenVINO computes."""

from math import inf

import numpy as np
import openvino as ov
import pytest
from openvino import opset1
from openvino import opset13 as ops

from helpers.openvino_models import number
from ov_gather.acceleration.graph import ours
from ov_gather.ranges.analysis import Assumption, analyse
from ov_gather.ranges.graph import in_order
from ov_gather.ranges.prove import graph_of
from ov_gather.ranges.rules.call import CPU_PLUGIN

EVERY_INT32 = (-(2**31), 2**31 - 1)
"""What may be in an integer of the plugin, which keeps 64 bits as 32."""


def value_range(value):
    """The least and the greatest element of a value, as far as the analysis knows."""
    graph = graph_of(ov.Model([ops.constant(0)], []))
    key = graph.graph.key(value.output(0) if isinstance(value, ov.Node) else value)
    elements = analyse(graph, in_order(graph, [key]), CPU_PLUGIN, Assumption()).value(key).elements
    return elements.low, elements.high


def compiled(expression, *inputs):
    return ov.Core().compile_model(ov.Model([expression], list(inputs), "m"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def computed(expression, x, values):
    return compiled(expression, x)([values])[0]


SHAPE = np.array([1, 9, 1, 1])
table = ops.constant(np.arange(3, 73))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: x, EVERY_INT32),
        (lambda x: ops.clamp(x, 0, 6), (0, 6)),
        (lambda x: ops.topk(x, 2, 0, "max", "value").output(1), (0, 8)),
        (lambda x: ops.topk(x, 2, 0, "max", "value").output(0), EVERY_INT32),
        (lambda x: ops.convert(ops.less(x, number([0])), "i64"), (0, 1)),
        (lambda x: ops.unique(ops.clamp(x, 0, 6)).output(0), (0, 6)),
        (lambda x: ops.unique(ops.clamp(x, 0, 6), sorted=False).output(0), EVERY_INT32),
        (lambda x: ops.unique(ops.slice(x, [0], [0], [1])).output(2), EVERY_INT32),
        (lambda x: ops.random_uniform(number([2]), number(0), number(5), "i64"), (0, 4)),
        (lambda x: ops.random_uniform(np.zeros(0, np.int64), number(0), number(5), "i64"), EVERY_INT32),
        (lambda x: ops.random_uniform(ops.shape_of(ops.reduce_max(x, 0)), number(0), number(5), "i64"), EVERY_INT32),
        (lambda x: ops.gather(np.array([3, 4]), x, 0), EVERY_INT32),
        (lambda x: ops.constant(np.zeros(0, np.int64)), EVERY_INT32),
        (lambda x: ops.gather(ops.reshape(table, np.array([7, 10]), False), x, 1), (0, 72)),
        (lambda x: opset1.gather(np.array([3, 4]), ops.clamp(x, -2, 1), 0), EVERY_INT32),
        (lambda x: ops.clamp(x, -inf, 6), (-(2**31), 6)),
        (
            lambda x: ops.reverse_sequence(ops.unsqueeze(ops.clamp(x, 0, 6), number([0])), np.int32([3]), 0, 1),
            (0, 6),
        ),
        (lambda x: ops.depth_to_space(ops.reshape(ops.clamp(x, 0, 6), SHAPE, False), "blocks_first", 3), (0, 6)),
        (lambda x: ops.space_to_depth(ops.reshape(ops.clamp(x, 0, 6), SHAPE, False), "blocks_first", 1), (0, 6)),
        (lambda x: ops.tile(ops.clamp(x, 0, 6), ops.reduce_max(x, 0, keep_dims=True)), EVERY_INT32),
    ],
)
def test_bounds(make, expected):
    assert value_range(make(ops.parameter([9], np.int64))) == expected


@pytest.mark.parametrize(
    ("shape", "repeated", "is_known"),
    [([2, 3, 2], [0, 1, 2], True), ([2, 3, 2, 2], [0, 3], True), ([2, 3, 2, 2], [0, 2, 3], False)],
)
def test_repeats_that_are_known_at_run_time_only(shape, repeated, is_known):
    """The plugin does not write all of what is repeated along three axes of four."""
    x = ops.parameter([ov.Dimension(0, 4), *shape[1:]], np.int64)
    size = ops.gather(ops.shape_of(x), number([0]), 0)
    times = ops.concat([size if axis in repeated else number([1]) for axis in range(len(shape))], 0)
    tiled = ops.tile(ops.clamp(x, 3, 7), times)
    data = np.arange(np.prod(shape)).reshape(shape)
    if is_known:
        check_inside(tiled, x, data)
    assert value_range(tiled) == ((3, 7) if is_known else EVERY_INT32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_maximum_that_is_not_bounded_above_is_not_bounded_below(dtype):
    """The CPU plugin computes this in float32, in which the greatest integer is one too large."""
    x = ops.parameter([1], dtype)
    zeros = [ops.constant(np.zeros(1, dtype)) for _ in range(3)]  # one constant for all is not computed in float32
    expression = ops.select(ops.less(x, zeros[0]), zeros[1], ops.maximum(zeros[2], x))
    assert computed(expression, x, np.array([2**31 - 1], dtype))[0] < 0
    assert value_range(expression) == EVERY_INT32


def test_a_remainder_of_what_float32_cannot_hold_is_not_bounded():
    """The CPU plugin computes the remainder of a division by 7 in float32, and comes to -128 to 128."""
    x = ops.parameter([2000], np.int64)
    remainder = ops.floor_mod(x, number([7]))
    assert computed(remainder, x, np.arange(2**31 - 2000, 2**31)).max() > 6
    assert value_range(remainder) == EVERY_INT32
    assert value_range(ops.floor_mod(ops.clamp(x, -1000, 1000), number([7]))) == (0, 6)


@pytest.mark.parametrize(("divide", "low"), [(ops.floor_mod, 0), (ops.mod, -255)])
def test_a_remainder_by_a_power_of_two_is_bounded(divide, low):
    """A division by a power of two is exact in float32; what float32 does not hold is rounded before it."""
    x = ops.parameter([2000], np.int64)
    remainder = divide(ops.multiply(x, number([805459861])), number([256]))
    assert value_range(remainder) == (low, 255)
    for first in (-(2**31), -1000, 2**24 - 1000, 2**31 - 2000):
        check_inside(remainder, x, np.arange(first, first + 2000))
    too_large = ops.floor_mod(x, number([2**30]))
    assert computed(too_large, x, np.arange(-2000, 0)).max() == 2**30
    assert value_range(too_large) == EVERY_INT32
    rounded = ops.floor_mod(ops.clamp(x, 2**24 + 1, 2**24 + 1), number([256]))
    check_inside(rounded, x, np.arange(2000))


COMPARISONS = [ops.less, ops.less_equal, ops.greater, ops.greater_equal]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("limit", [3, 2**24 + 1, 2**31 - 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_what_a_comparison_chooses(compare, limit, dtype):
    x = ops.parameter([9], dtype)
    bounded = ops.clamp(x, -9, 2**31 - 2)
    limits = ops.constant(np.array(limit, dtype))
    moved = ops.subtract(bounded, ops.constant(np.array(4, dtype)))
    values = np.array([-(2**31), -1, 2, 3, 4, 2**24, 2**24 + 1, 2**24 + 2, 2**31 - 1], dtype)
    for condition in (compare(bounded, limits), compare(limits, bounded)):
        check_inside(ops.select(condition, ops.constant(np.array(3, dtype)), moved), x, values)
        check_inside(ops.select(condition, moved, ops.constant(np.array(3, dtype))), x, values)


def test_a_comparison_of_small_numbers_bounds_what_it_chooses():
    x = ops.parameter([9], np.int64)
    bounded, limits = ops.clamp(x, 0, 9), number([3])
    moved = ops.multiply(bounded, number([2]))
    assert value_range(ops.select(ops.less(bounded, limits), moved, number([0]))) == (0, 4)
    assert value_range(ops.select(ops.less(bounded, limits), number([9]), moved)) == (6, 18)
    assert value_range(ops.select(ops.greater(bounded, limits), moved, number([9]))) == (8, 18)
    assert value_range(ops.select(ops.greater_equal(limits, bounded), moved, number([0]))) == (0, 6)
    assert value_range(ops.select(ops.less(x, limits), x, number([0]))) == (-(2**31), 2)


def check_inside(expression, x, values):
    low, high = value_range(expression)
    found = computed(expression, x, values)
    assert low <= found.min() <= found.max() <= high


@pytest.mark.parametrize("bounds", [(0.5, 3.7), (-1.5, 2.5), (-0.2, 0.2), (0.9, 0.95), (-3.4, -3.2)])
def test_integers_between_fractions(bounds):
    """The plugin makes 0 of what is to be between 0.9 and 0.95."""
    x = ops.parameter([6], np.int64)
    check_inside(ops.clamp(x, *bounds), x, np.array([-100, -1, 0, 1, 3, 100]))


def test_what_a_convert_to_boolean_makes():
    x = ops.parameter([4], np.int64)
    truth = ops.convert(ops.convert(ops.subtract(ops.clamp(x, 0, 3), number([5])), "boolean"), "i64")
    check_inside(truth, x, np.array([0, 1, 2, 3]))
    assert value_range(truth) == (0, 1)


def test_a_boolean_input_may_be_any_byte():
    x = ops.parameter([3], np.bool_)
    number = ops.convert(x, "i64")
    assert computed(number, x, np.array([0, 7, 255], np.uint8).view(np.bool_)).max() == 255
    assert value_range(number) == (0, 255)
    assert value_range(ops.convert(ops.logical_not(x), "i64")) == (0, 1)


@pytest.mark.parametrize("gather", [ops.gather, opset1.gather])
@pytest.mark.parametrize(("shape", "axis"), [([1, 4], 1), ([64, 1], 0), ([3, 5, 2], 1), (["1..9", 3], 0)])
def test_other_gathers_give_zeros_out_of_bounds(gather, shape, axis):
    data, x = ops.parameter(ov.PartialShape(shape), np.int64), ops.parameter([7], np.int64)
    shown = [2 if isinstance(size, str) else size for size in shape]
    expression = gather(ops.clamp(data, 3, 7), x, ops.constant(axis))
    found = compiled(expression, data, x)([np.full(shown, 5), np.array([0, 64, -1, -70, -(2**31), 10**6, 2**31 - 1])])[0]
    assert set(found.flat) == {0, 5}
    assert value_range(expression) == (0, 7)


def test_sequences_are_reversed_as_float32():
    """The plugin rounds what float32 does not hold."""
    x = ops.parameter([1, 3], np.int64)
    reversed_ = ops.reverse_sequence(x, np.int32([3]), 0, 1)
    assert computed(reversed_, x, np.array([[2**24 + 1, 0, 0]])).flat[-1] == 2**24
    bounded = ops.reverse_sequence(ops.clamp(x, 2**24 + 1, 2**24 + 2), np.int32([3]), 0, 1)
    check_inside(bounded, x, np.array([[2**24 + 1, 0, 0]]))


@pytest.mark.parametrize("shape", [[4], [64], [-1]])
def test_gathers_of_few_integers_are_not_checked(shape):
    """The plugin reads from memory that is not data's."""
    data, x = ops.parameter(shape, np.int64), ops.parameter([5], np.int64)
    assert value_range(ops.gather(ops.clamp(data, 0, 3), x, 0)) == EVERY_INT32


@pytest.mark.parametrize("length", ["0..9", -1])
def test_an_axis_of_no_elements_tells_nothing(length):
    """The plugin does not execute what reads nothing, and leaves the output as it was in memory."""
    x = ops.parameter(ov.PartialShape([2, length]), np.int64)
    inside = ops.clamp(x, 0, 3)
    indices = ops.constant(np.zeros((2, 1), np.int64))
    for expression in (
        ops.gather(inside, indices, 1),
        ops.gather_elements(inside, indices, 1),
        ops.topk(x, 1, 1, "max", "value"),
    ):
        assert value_range(expression.output(expression.get_output_size() - 1)) == EVERY_INT32


def test_thousands_of_operations():
    x = ops.parameter([1], np.int64)
    expression = ops.clamp(x, 0, 3)
    for _ in range(5000):
        expression = ops.reshape(expression, number([1]), False)
    assert value_range(expression) == (0, 3)


def test_indices_that_our_operation_broadcasts_do_not_shape_its_output():
    data, x = ops.parameter([-1, -1], np.float32), ops.parameter([-1, 1], np.int64)
    gathered = ours("GatherElements", [data.output(0), x.output(0)], {"axis": 0, "broadcast": True})
    graph = graph_of(ov.Model([gathered], [data, x]))
    key = graph.graph.key(gathered.output(0))
    shape = analyse(graph, in_order(graph, [key]), CPU_PLUGIN, Assumption()).value(key).shape
    assert shape is not None
    assert shape[1].value is None


def test_a_multiple_of_one_number_may_wrap_around():
    """The bound of the product names the number, which is no size: sizes are far from 2^31."""
    x = ops.parameter([], np.int32)
    product = ops.multiply(ops.clamp(x, 0, 2**24), ops.constant(np.int32(256)))
    check_inside(product, x, np.array(2**24, np.int32))
    check_inside(product, x, np.array(2**23, np.int32))


def test_bounds_that_no_float_holds():
    """Sums over an open axis, one of the other, multiply the bound by the largest size each time."""
    total = ops.clamp(ops.parameter([-1, 4], np.float32), 0.0, 1.0)
    for _ in range(60):
        total = ops.add(total, ops.reduce_sum(total, [0], keep_dims=True))
    assert value_range(total) == (0, inf)
    assert value_range(ops.reduce_prod(number([2**31 - 1] * 64), [0])) == EVERY_INT32
