"""What the CPU plugin computes lies within what the analysis of ranges claims: cases that random models have found."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import openvino as ov
import pytest
from numpy.typing import NDArray
from openvino import opset1
from openvino import opset13 as ops

from helpers.index_sites import Tensor, tensor
from helpers.range_analysis import Names, by_ir, complaints
from ov_gather import prove
from ov_gather.ranges.algebra.values import Value
from ov_gather.runtimes.session import Session

LARGE = np.int32([2**31 - 1, 1735591539, 344636966, 436801453, 751720133, 2**31 - 2, -(2**31), 2**24 + 1])


def number(value: float, dtype: type = np.int32) -> ov.Node:
    return ops.constant(np.array(value, dtype))


def size_of(value: ov.Node) -> ov.Node:
    return ops.gather(ops.shape_of(value, "i32"), number(0), number(0))


def remainder_of_large_numbers() -> ov.Model:
    x = ops.parameter([8], np.int32)
    return ov.Model([ops.mod(x, number(3))], [x], "m")


def remainder_of_large_fractions() -> ov.Model:
    x = ops.parameter([8], np.float32)
    return ov.Model([ops.floor_mod(ops.clamp(x, -1e9, 1e9), number(7, np.float32))], [x], "m")


def clamp_of_what_is_no_number() -> ov.Model:
    x = ops.parameter([2, 3], np.float32)
    return ov.Model([ops.clamp(ops.softmax(x, 0), -3.0, 2.0)], [x], "m")


def minimum_of_what_is_no_number() -> ov.Model:
    x = ops.parameter([2, 3], np.float32)
    return ov.Model([ops.minimum(ops.softmax(x, 0), number(7, np.float32))], [x], "m")


def sum_that_wraps_around() -> ov.Model:
    """The sum of any integer and a size may be any integer, too."""
    x, y = ops.parameter([3], np.int32), ops.parameter([-1], np.float32)
    return ov.Model([ops.add(x, size_of(y))], [x, y], "m")


def place_of_one_element() -> ov.Model:
    x = ops.parameter([1], np.int32)
    places = ops.non_zero(ops.constant(np.ones((1, 1, 1), np.float32)), "i32")
    return ov.Model([ops.multiply(places, ops.constant(np.int32([[1], [1], [1]])))], [x], "m")


def number_that_wraps_around() -> ov.Model:
    x = ops.parameter([], np.int32)
    return ov.Model([ops.add(ops.relu(x), number(5))], [x], "m")


def number_in_a_narrower_type() -> ov.Model:
    x = ops.parameter([], np.uint8)
    return ov.Model([ops.convert(x, "i8")], [x], "m")


def loop_that_may_not_run() -> ov.Model:
    x, trips = ops.parameter([2], np.int32), ops.parameter([], np.int64)
    state = ops.parameter([2], np.int32)
    clamped = ops.clamp(state, 0, 4)
    node = ops.loop(trips, ops.constant(True))
    node.set_function(ov.Model([ops.result(ops.constant(True)), ops.result(clamped)], [state], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(state, x.output(0), clamped.output(0))
    return ov.Model([node.get_iter_value(clamped.output(0), -1)], [x, trips], "m")


def frame_of_a_large_number() -> ov.Model:
    x = ops.parameter([2, 2, 3], np.int32)
    amount = ops.constant(np.array([1, 0, 0]))
    return ov.Model([ops.pad(ops.clamp(x, 0, 6), amount, amount, "constant", number(2**31 - 1))], [x], "m")


def input_of_64_bits() -> ov.Model:
    x = ops.parameter([2], np.int64)
    return ov.Model([ops.convert(x, "f32")], [x], "m")


def random_number_below_an_empty_size() -> ov.Model:
    x = ops.parameter([-1], np.float32)
    return ov.Model([ops.random_uniform(ops.constant(np.array([3])), number(0), size_of(x), "i32", 3, 5)], [x], "m")


def range_to_before_its_start(start: int, step: int) -> Callable[[], ov.Model]:
    """The plugin counts as many numbers as there would be in the other direction."""

    def make() -> ov.Model:
        x = ops.parameter([ov.Dimension(0, 4)], np.float32)
        return ov.Model([ops.range(number(start), size_of(x), number(step), "i32")], [x], "m")

    return make


def range_of_fractions() -> ov.Model:
    x = ops.parameter([ov.Dimension(0, 4)], np.float32)
    stop = ops.convert(size_of(x), "f32")
    return ov.Model([ops.range(number(0, np.float32), stop, number(0.5, np.float32), "f32")], [x], "m")


def halves_away_from_zero() -> ov.Model:
    x = ops.parameter([4], np.float32)
    return ov.Model([ops.round(ops.clamp(x, -2.5, 2.5), "half_away_from_zero")], [x], "m")


def sizes_of_nothing() -> ov.Model:
    """OpenVINO makes 0 of the first dimension, too."""
    x = ops.parameter([-1], np.int32)
    dims = ops.concat([ops.shape_of(x), ops.constant(np.array([0]))], 0)
    nothing = ops.broadcast(ops.constant(np.zeros((1, 0), np.int64)), dims, broadcast_spec="bidirectional")
    return ov.Model([ops.shape_of(ops.unsqueeze(nothing, number(-1)), "i32")], [x], "m")


def split_of_too_few() -> ov.Model:
    """What remains beside the parts of the given lengths is -1, and a part goes beyond the end."""
    x = ops.parameter([1, -1], np.int32)
    split = ops.variadic_split(ops.clamp(x, 3, 7), number(1), ops.constant(np.array([2, -1])))
    return ov.Model([ops.add(split.output(0), number(0))], [x], "m")


def clamp_by_a_fraction() -> ov.Model:
    """The plugin rounds the fraction up where it is negative."""
    x = ops.parameter([3], np.int64)
    return ov.Model([ops.clamp(ops.minimum(x, number(-7, np.int64)), -2.5, 3.0)], [x], "m")


def mean_of_scattered_numbers() -> ov.Model:
    x, at = ops.parameter([4], np.int32), ops.constant(np.zeros(1, np.int32))
    most = ops.constant(np.full(1, 2**31 - 1, np.int32))
    return ov.Model([ops.scatter_elements_update(ops.clamp(x, 0, 3), at, most, number(0), "mean")], [x], "m")


def mean_of_large_numbers() -> ov.Model:
    x = ops.parameter([8], np.int32)
    return ov.Model([ops.reduce_mean(ops.maximum(x, number(2**31 - 9)), number(0))], [x], "m")


def extreme_of_large_numbers(work: Callable[..., ov.Node], large: int) -> Callable[[], ov.Model]:
    """The plugin compares integers as float32, and 2^31, which that makes of the greatest, wraps around."""

    def make() -> ov.Model:
        x = ops.parameter([3], np.int32)
        table = ops.constant(np.array([large, large], np.int32))
        return ov.Model([work(ops.gather(table, ops.clamp(x, 0, 1), number(0)), number(0), True)], [x], "m")

    return make


def one_below_and_one_above(x: ov.Node) -> ov.Node:
    return ops.concat([ops.clamp(x, 0, 1), ops.clamp(x, 5, 6)], 0)


def one_of_two_from_the_start() -> ov.Model:
    """The mask of beginnings says to take the first one, whatever the beginning is."""
    x, at = ops.parameter([1], np.int32), [ops.constant(np.array([end])) for end in (1, 2, 1)]
    return ov.Model([ops.strided_slice(one_below_and_one_above(x), *at, [1], [0], [0], [1])], [x], "m")


def rows_of_one_number_each() -> ov.Model:
    x, shape = ops.parameter([1], np.int32), ops.constant(np.array([2, 2]))
    rows = opset1.broadcast(one_below_and_one_above(x), shape, ops.constant(np.array([0])), "EXPLICIT")
    return ov.Model([ops.add(rows, number(0))], [x], "m")


NOTHING = np.zeros(0, np.float32)
CASES: dict[str, tuple[Callable[[], ov.Model], Sequence[NDArray]]] = {
    "a remainder of large numbers": (remainder_of_large_numbers, [LARGE]),
    "a remainder of large fractions": (remainder_of_large_fractions, [np.float32([*LARGE[:7], -999999999])]),
    "a clamp of NaN": (clamp_of_what_is_no_number, [np.float32([[np.inf, 1, 0], [0, 0, 0]])]),
    "a minimum of NaN": (minimum_of_what_is_no_number, [np.float32([[np.inf, 1, 0], [0, 0, 0]])]),
    "a sum that wraps around": (sum_that_wraps_around, [np.int32([2**31 - 1, 0, 1]), np.zeros(3, np.float32)]),
    "the place of the only element of a constant": (place_of_one_element, [np.int32([0])]),
    "a number that wraps around": (number_that_wraps_around, [np.array(2**31 - 1, np.int32)]),
    "a number in a narrower type": (number_in_a_narrower_type, [np.array(255, np.uint8)]),
    "a loop that does not run": (loop_that_may_not_run, [np.int32([-4, 9]), np.array(0)]),
    "a frame of a large number": (frame_of_a_large_number, [np.ones((2, 2, 3), np.int32)]),
    "an input of 64 bits": (input_of_64_bits, [np.array([2**32 + 1, -(2**40)])]),
    "a random number below an empty size": (random_number_below_an_empty_size, [NOTHING]),
    "a clamp of integers by a fraction": (clamp_by_a_fraction, [np.int64([-9, 0, 9])]),
    "a mean of numbers that are scattered": (mean_of_scattered_numbers, [np.int32([3, 1, 2, 3])]),
    "a mean of large numbers": (mean_of_large_numbers, [np.zeros(8, np.int32)]),
    "a range that ends before its start": (range_to_before_its_start(5, 1), [NOTHING]),
    "a range that ends before its start, in steps": (range_to_before_its_start(1, 3), [NOTHING]),
    "a range downwards to above its start": (range_to_before_its_start(0, -1), [np.zeros(4, np.float32)]),
    "halves that are rounded up": (halves_away_from_zero, [np.float32([-9, -2.5, 2.5, 9])]),
    "sizes of a tensor without elements": (sizes_of_nothing, [np.zeros(4, np.int32)]),
    "a split of too few": (split_of_too_few, [np.int32([[7]])]),
    "the greatest of large numbers": (extreme_of_large_numbers(ops.reduce_max, 2**31 - 1), [np.zeros(3, np.int32)]),
    "the least of large numbers": (extreme_of_large_numbers(ops.reduce_min, 2**24 + 1), [np.zeros(3, np.int32)]),
    "the first of two": (one_of_two_from_the_start, [np.zeros(1, np.int32)]),
    "rows of one number each": (rows_of_one_number_each, [np.zeros(1, np.int32)]),
    "a range of fractions": (range_of_fractions, [np.zeros(4, np.float32)]),
}


def _names(model: ov.Model, claims: Mapping[Tensor, Value], arrays: Sequence[NDArray]) -> Names:
    names = Names()
    for node, array in zip(model.get_parameters(), arrays, strict=True):
        names.set_bounds(claims[tensor(node.output(0))], array)
    return names


@pytest.mark.parametrize("name", CASES)
def test_no_value_is_outside(name: str) -> None:
    make, arrays = CASES[name]
    model = make()
    result = tensor(model.outputs[0].get_node().input_value(0))
    claims, _ = by_ir(model)
    (found,) = Session(ov.Core(), model)(arrays)
    assert found.size
    assert list(complaints(claims[result], found, _names(model, claims, arrays))) == []


def test_a_place_among_no_elements_is_not_known() -> None:
    """The plugin leaves the places as they were in memory."""
    x, rows = ops.parameter([3], np.float32), ops.parameter([-1], np.float32)
    rows.output(0).set_names({"rows"})
    index = ops.bucketize(x, rows, "i32")
    table = ops.constant(np.zeros((3, 2)))
    (*_, proof) = prove(ov.Model([ops.gather(table, ops.clamp(ops.relu(index), 0, 2), number(0))], [x, rows], "m"))
    assert proof.status == "proved"
    (*_, proof) = prove(ov.Model([ops.gather(rows, ops.floor_mod(index, number(1)), number(0))], [x, rows], "m"))
    assert dict(proof.requires) == {"dim(rows, 0)": (1, None)}


@pytest.mark.parametrize(("dtype", "requires"), [(np.int32, (-4, None)), (np.int64, (-4, 2**31 - 1))])
def test_an_input_of_more_bits_than_the_plugin_keeps_has_both_bounds(dtype: type, requires: tuple[object, object]) -> None:
    """The plugin makes -2^31 of an input of 2^31."""
    x = ops.parameter([3], dtype)
    x.output(0).set_names({"x"})
    index = ops.minimum(ops.convert(x, "i32"), number(3))
    (proof,) = prove(ov.Model([ops.gather(ops.constant(np.zeros((4, 2))), index, number(0))], [x], "m"))
    assert dict(proof.requires) == {"x": requires}


def test_conditions_name_inputs_only() -> None:
    """Nobody can keep an index below the number of elements that are not zero."""
    x, i = ops.parameter([-1, 4], np.float32), ops.parameter([3], np.int32)
    rows = ops.transpose(ops.non_zero(x, "i32"), ops.constant(np.array([1, 0])))
    (proof,) = prove(ov.Model([ops.gather(rows, i, number(0))], [x, i], "m"))
    assert (proof.status, dict(proof.requires)) == ("unknown", {})


def test_each_coordinate_has_its_bound() -> None:
    x, i = ops.parameter([-1, 7, 1], np.float32), ops.parameter([4, 3], np.int32)
    for name, node in (("x", x), ("i", i)):
        node.output(0).set_names({name})
    (proof,) = prove(ov.Model([ops.gather_nd(x, i)], [x, i], "m"))
    assert dict(proof.requires) == {"i": (-1, 0), "dim(x, 0)": (1, None)}
