"""What `prove` requires of the sizes of open dimensions: as little as possible, and nothing where no index is read."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from ov_gather import prove
from ov_gather.runtimes.session import Session

AXIS = ops.constant(0)


def named(name: str, *shape: int, dtype: type = np.float32) -> ov.Node:
    node = ops.parameter(ov.PartialShape(list(shape)), dtype)
    node.output(0).set_names({name})
    return node


def size_of(x: ov.Node, axis: int) -> ov.Node:
    return ops.gather(ops.shape_of(x), ops.constant(np.int64(axis)), AXIS)


def count(x: ov.Node, axis: int) -> ov.Node:
    return ops.range(ops.constant(np.int64(0)), size_of(x, axis), ops.constant(np.int64(1)), "i64")


def only(node: ov.Node, *inputs: ov.Node):
    """The proof of the last gather."""
    return prove(ov.Model([node], list(inputs), "m"))[-1]


def test_a_table_of_positions_bounds_a_size() -> None:
    x = named("x", -1, -1)
    table = ops.constant(np.zeros((130, 2), np.float32))
    proof = only(ops.gather(table, ops.add(count(x, 1), ops.constant(np.int64(2))), AXIS), x)
    assert (proof.status, dict(proof.requires)) == ("conditional", {"dim(x, 1)": (None, 128)})


def test_rows_of_one_input_are_looked_up_in_another() -> None:
    ids, mask = named("ids", -1, -1), named("mask", -1, -1)
    proof = only(ops.gather(mask, count(ids, 0), AXIS), ids, mask)
    assert proof.status == "conditional"
    assert proof.reason == "in bounds if dim(ids, 0) <= dim(mask, 0)"


def test_a_common_factor_does_not_matter() -> None:
    ids, mask = named("ids", -1, -1), named("mask", -1, -1)
    flat = ops.reshape(mask, ops.constant(np.array([-1])), False)
    end = ops.multiply(size_of(ids, 0), size_of(mask, 1))
    places = ops.range(ops.constant(np.int64(0)), end, ops.constant(np.int64(1)), "i64")
    proof = only(ops.gather(flat, places, AXIS), ids, mask)
    assert proof.reason == "in bounds if dim(ids, 0) <= dim(mask, 0)"


@pytest.mark.parametrize("is_read", [True, False])
def test_nothing_is_required_where_nothing_is_read(is_read: bool) -> None:
    """The place of the greatest element of an empty axis is whatever lies in memory, but it is never used here."""
    x = named("x", -1)
    place = ops.topk(x, ops.constant(1), 0, "max", "value").output(1)
    shape = ops.constant(np.array([3])) if is_read else ops.shape_of(x)
    proof = only(ops.gather(x, ops.broadcast(place, shape), AXIS), x)
    assert (proof.status, dict(proof.requires)) == (("conditional", {"dim(x, 0)": (1, None)}) if is_read else ("proved", {}))


@pytest.mark.parametrize("step", [1, -1])
def test_what_is_counted_between_two_sizes_has_their_difference_as_its_size(step: int) -> None:
    x = named("x", -1)
    size = size_of(x, 0)
    ends = [ops.multiply(size, ops.constant(np.int64(sign * step))) for sign in (-1, 1)]
    counted = ops.range(*ends, ops.constant(np.int64(step)), "i64")
    model = ov.Model([ops.gather(counted, ops.add(count(x, 0), size), AXIS), counted], [x], "m")
    assert prove(model)[-1].status == "proved"
    _, found = Session(ov.Core(), model)([np.zeros(3, np.float32)])
    np.testing.assert_array_equal(found, np.arange(-3 * step, 3 * step, step))
