"""Which sizes pay: `accelerate` leaves what could become slower for any shape that the model can have."""

import numpy as np
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import operations
from helpers.openvino_models import made_of, number
from helpers.steps import steps_of

OPEN = "too small to gain for the least open sizes"


def gathered(data, index, axis=1):
    return ops.gather_elements(data, index, axis)


@pytest.mark.parametrize(
    ("data", "index", "reason"),
    [
        ("f32[?,9]", "i64[?,1]", OPEN),
        ("f32[?,1000]", "i64[?,1000]", OPEN),
        ("f32[1..4096,1000]", "i64[1..4096,1000]", OPEN),
        ("f32[?,9]", "i64[1,1]", "too small to gain"),
        ("f32[9..,1000]", "i64[9..,1000]", ""),
        ("f32[?,256,256]", "i64[?,256,256]", ""),
        ("f32[90,100]", "i64[90,100]", ""),
    ],
)
def test_an_open_dimension_counts_as_its_least_size(data, index, reason):
    model = made_of(gathered, data=data, index=index)
    (change,) = ov_gather.accelerate(model).changes
    assert (change.reason, bool(change.done)) == (reason, not reason)


@pytest.mark.parametrize(("width", "kind"), [(64, "ov_gather.GatherElements"), (8, "GatherElements-6")])
def test_an_open_dimension_counts_as_usual_where_a_broadcast_goes_away(width, kind):
    def by_rows(data, index):
        return ops.gather_elements(data, ops.broadcast(index, number([1, width]), broadcast_spec="BIDIRECTIONAL"), 0)

    model = made_of(by_rows, data=f"f32[?,{width}]", index="i64[?,1]")
    ov_gather.accelerate(model)
    assert kind in operations(model)


@pytest.mark.parametrize(("count", "kind"), [(128, "ov_gather.GatherElements"), (16, "GatherElements-6")])
def test_a_batch_counts_as_one_where_a_broadcast_goes_away(count, kind):
    """Of sixteen rows of a sequence, ours took up to 1.35 times as long at batches of 1 to 8."""

    def best_rows(data):
        best = ops.topk(ops.reduce_max(data, number([2]), keep_dims=True), number(count), 1, "max", "value", "i64").output(1)
        return ops.gather_elements(data, ops.broadcast(best, number([1, 1, 64]), broadcast_spec="BIDIRECTIONAL"), 1)

    model = made_of(best_rows, data="f32[?,?,64]")
    ov_gather.accelerate(model)
    assert kind in operations(model)


@pytest.mark.parametrize(("hidden", "is_changed"), [(1000, True), (100, False)])
def test_an_open_dimension_counts_as_usual_beside_many_weights(hidden, is_changed):
    def attention(x, index):
        scores = ops.matmul(x, ops.constant(np.ones((hidden, 1000), np.float32)), False, False)
        return ops.gather_elements(scores, index, 1)

    model = made_of(attention, x=f"f32[?,{hidden}]", index="i64[?,?]")
    (change,) = ov_gather.accelerate(model).changes
    assert bool(change.done) == is_changed


def test_labels_of_an_open_batch_are_gathered_from_log_softmax():
    model = made_of(lambda x, index: gathered(ops.log_softmax(x, 1), index), x="f32[?,100000]", index="i64[?,5]")
    (change,) = ov_gather.accelerate(model).changes
    assert not change.done and "LogSoftmax-5" in operations(model)


def test_steps_a_gather_do_not_grow_with_the_number_of_gathers():
    """Each gather had all inputs counted again, which took 9 s for 1,000 gathers."""

    def steps(gathers: int) -> int:
        shape = {f"x{i}": f"f32[8,{8 + i}]" for i in range(gathers)} | {f"i{i}": f"i64[8,{8 + i}]" for i in range(gathers)}
        model = made_of(lambda *given: [*map(gathered, given[:gathers], given[gathers:])], **shape)
        return steps_of(lambda: ov_gather.accelerate(model))

    steps(1)  # imports, and fills caches
    few, more, many = steps(20), steps(60), steps(100)
    assert many - more < 1.2 * (more - few)
