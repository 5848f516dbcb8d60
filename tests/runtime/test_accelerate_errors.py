"""`accelerate`: a model raises where it raised before."""

import numpy as np
import pytest
from openvino import opset13 as ops

from helpers.accelerating import (
    accelerated,
    check_accelerated,
    check_raises,
    check_same,
    model_of,
    operations,
    parameter,
    transpose,
)

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

LINES = np.random.default_rng(0).random((7, 5), np.float32)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("behind", [ops.relu, transpose], ids=["alone", "transposed"])
def test_indices_of_open_shape_that_are_smaller_than_data(behind):
    model = model_of(behind(ops.gather_elements(parameter("data", [-1, -1]), parameter("i", [-1, -1], np.int64), 0)))
    once, summary = accelerated(model)
    assert summary.changed
    for other in (once, accelerated(once)[0]):  # a model that was accelerated already behaves the same
        assert "ov_gather.GatherElements" in operations(other)
        check_same(model, other, [LINES, np.random.default_rng(0).integers(-7, 7, (9, 5))])
        for columns in (1, 4, 6):
            check_raises([LINES, np.zeros((9, columns), np.int64)], model, other)


def test_an_output_shape_stays_known():
    model = model_of(ops.gather_elements(parameter("data", [7, 5]), parameter("i", [-1, -1], np.int64), 0))
    other, summary = accelerated(model)
    assert summary.changes[0].done == ["ov_gather.GatherElements by [?,?]"]
    assert str(other.output(0).partial_shape) == "[?,5]"
    check_raises([LINES, np.zeros((9, 4), np.int64)], model, other)


def test_what_is_known_to_be_of_the_same_shape_is_not_checked_again():
    """The attribute is written only where needed, so that earlier releases of our operation can read the model."""
    data = parameter("data", [-1, 5])
    model = model_of(ops.gather_elements(data, ops.convert(data, "i64"), 0))
    other, _ = accelerated(model)
    (ours,) = (node for node in other.get_ops() if node.get_type_name() == "GatherElements")
    assert not ours.get_attributes()["same_shape"]


def wider(data, other):
    """A sum as wide as the wider operand. A dimension without a name was once taken for the one that it is added to."""
    return ops.add(ops.add(data, other), data)


@pytest.mark.parametrize("widen", [wider, lambda data, other: ops.select(ops.less(data, data), data, other)])
def test_what_is_broadcast_with_a_dimension_may_be_larger(widen):
    data, other = parameter("data", [-1, -1]), parameter("other", [-1, -1])
    one = ops.constant(np.array([1]))
    sizes = ops.concat([one, ops.gather(ops.shape_of(widen(data, other)), one, ops.constant(0))], 0)
    index = ops.broadcast(parameter("i", [-1, 1], np.int64), sizes, broadcast_spec="BIDIRECTIONAL")
    model = model_of(ops.gather_elements(data, index, 0))
    indices, wide = np.zeros((9, 1), np.int64), np.zeros((7, 5), np.float32)
    changed, _ = check_accelerated(model, [LINES, indices, wide])
    check_raises([np.ones((7, 1), np.float32), indices, wide], model, changed)


def test_sizes_from_out_of_bounds():
    """Gather writes zeros where an index is out of bounds."""
    data = parameter("data", [-1, -1])
    sizes = ops.gather(ops.shape_of(data), ops.constant(np.array([0, 7])), ops.constant(0))
    model = model_of(ops.gather_elements(data, ops.broadcast(parameter("i", [1, 1], np.int64), sizes), 0))
    check_raises([LINES, np.zeros((1, 1), np.int64)], model, accelerated(model)[0])
