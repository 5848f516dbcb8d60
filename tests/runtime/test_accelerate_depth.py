"""`accelerate` on deep graphs."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.accelerating import accelerated, check_accelerated, model_of, parameter
from helpers.branching import if_of
from helpers.openvino_models import made_of
from ov_gather.acceleration.graph import walk

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

DEPTH = 1500
INDEX = np.random.default_rng(0).integers(0, 20, (40, 9))


def again(step, value):
    for _ in range(DEPTH):
        value = step(value)
    return value


def reshaped(value):
    return ops.reshape(value, ops.constant(np.array([-1, 1, 1])), True)


def test_labels_whose_scores_are_moved_thousands_of_times():
    probabilities = ops.log_softmax(parameter("data", [40, 100]), 1)
    scores = ops.gather_elements(probabilities, parameter("i", [40, 9], np.int64), 1)
    model = model_of(again(reshaped, scores))
    _, summary = check_accelerated(model, [np.random.default_rng(0).random((40, 100), np.float32), INDEX])
    assert summary.changes[0].done[0] == "before LogSoftmax"


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "step",
    [
        lambda value: ops.convert(value, "i32" if value.get_output_element_type(0) == ov.Type.i64 else "i64"),
        lambda value: ops.reshape(value, ops.constant(np.array([2])), False),
    ],
    ids=["Convert", "Reshape"],
)
def test_sizes_that_come_from_far(step):
    data = parameter("data", [-1, -1])
    columns = ops.gather(ops.convert(again(step, ops.shape_of(data)), "i64"), ops.constant(np.array([1])), ops.constant(0))
    sizes = ops.concat([ops.constant(np.array([9])), columns], 0)
    model = model_of(ops.gather_elements(data, ops.broadcast(parameter("i", [9, 1], np.int64), sizes), 0))
    arrays = [np.random.default_rng(0).random((4, 5), np.float32), np.random.default_rng(0).integers(-4, 4, (9, 1))]
    _, summary = check_accelerated(model, arrays)
    assert summary.changed[0].done == ["ov_gather.GatherElements by [9,1]"]


@pytest.mark.exhaustive
def test_equals_that_come_from_far():
    line = parameter("i", [40, 1, 1], np.int64)
    index = ops.concat([again(reshaped, line), again(reshaped, line)], 1)
    model = model_of(ops.gather_elements(parameter("data", [40, 2, 1]), index, 0))
    arrays = [np.random.default_rng(0).random((40, 2, 1), np.float32), INDEX[:, :1, None]]
    check_accelerated(model, arrays, done=["ov_gather.GatherElements by [40,1,1]"])


@pytest.mark.exhaustive
def test_indices_that_come_from_far():
    index = again(lambda value: ops.add(value, ops.constant(np.int32(0))), ops.clamp(parameter("i", [9, 1], np.int32), 0, 3))
    rows = ops.broadcast(index, ops.constant(np.array([9, 5])))
    model = model_of(ops.gather_elements(parameter("data", [4, 5]), rows, 0))
    indices = np.random.default_rng(0).integers(-9, 9, (9, 1)).astype(np.int32)
    check_accelerated(model, [np.random.default_rng(0).random((4, 5), np.float32), indices], done=["Gather-8 by [9]"])


def test_sub_graphs_in_sub_graphs():
    """Sub-graphs are walked in the order in which they are nested."""
    depth = 40

    def nested(data, level=0):
        if level == depth:
            return [ops.gather_elements(data, ops.constant(np.zeros((1, 5), np.int64)), 0, name="gather")]
        branches = lambda data: nested(data, level + 1), lambda data: [ops.slice(data, [0], [1], [1])]
        return if_of(ops.constant(True), [data], *branches, name=f"if{level}")

    model = made_of(nested, data="f32[4,5]")
    names = [place + node.get_friendly_name() for place, node in walk(model)]
    assert "/".join([*(f"if{level}" for level in range(depth)), "gather"]) in names
    assert len(accelerated(model)[1].changes) == 1
