"""`accelerate`: gathers by tuples, and gathers of one position after the other."""

import numpy as np
import pytest
from openvino import opset5, opset7
from openvino import opset13 as ops

from helpers.accelerating import (
    accelerated,
    check_accelerated,
    check_same,
    check_stays,
    model_of,
    operations,
    outputs_of,
    parameter,
)
from ov_gather.acceleration import costs

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def side_by_side(*columns):
    return ops.concat([ops.unsqueeze(column, ops.constant(np.array([-1]))) for column in columns], -1)


@pytest.mark.parametrize(
    ("data", "tuples", "batch_dims"),
    [
        ([50], [9, 1], 0),
        ([50], [1], 0),
        ([50], [3, 4, 1], 0),
        ([50, 1], [9, 1], 0),
        ([3, 50], [3, 9, 1], 1),
        ([-1], [-1, 1], 0),
    ],
)
def test_single_elements_by_one_coordinate_become_gather_8(data, tuples, batch_dims, rng):
    model = model_of(ops.gather_nd(parameter("data", data), parameter("i", tuples, np.int64), batch_dims))
    sizes, given = ([size if size > 0 else 50 for size in shape] for shape in (data, tuples))
    arrays = [rng.random(sizes, np.float32), rng.integers(-50, 50, given)]
    _, summary = check_accelerated(model, arrays, portable=True, operators=["Gather-8", "Squeeze-1"])
    assert len(summary.changed) == 1


@pytest.mark.parametrize(
    ("data", "kind"), [([50, 8], np.float32), ([50], np.float64), ([50], np.float16)], ids=["slices", "f64", "f16"]
)
def test_tuples_of_one_coordinate_that_stay(data, kind):
    check_stays(model_of(ops.gather_nd(parameter("data", data, kind), parameter("i", [9, 1], np.int64), 0)))


def test_joined_batches_and_fused_arithmetic_stay():
    index = parameter("i", [3, 2, 9, 1], np.int64)
    joined = opset5.gather_nd(parameter("a", [3, 2, 50]), index, 2)
    fused = ops.relu(ops.gather_nd(ops.exp(parameter("b", [50])), parameter("j", [9, 1], np.int64), 0))
    summary = check_stays(model_of(joined, fused))
    assert "GatherND-5 joins batch dimensions" in {change.reason for change in summary.changes}


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(
    ("data", "tuples", "batch_dims", "kind"),
    [
        ([1, 50], [1, 9, 1], 1, np.float32),
        ([1, 50], [1, 1, 1], 1, np.float32),
        ([1, 50, 1], [1, 9, 1], 1, np.int32),
        ([1, 1, 50], [1, 1, 9, 1], 2, np.float32),
        ([-1, 50], [-1, 9, 1], 1, np.float32),
        ([1, -1], [1, 9, 1], 1, np.int64),
    ],
)
def test_batches_that_may_be_one_stay(data, tuples, batch_dims, kind, portable):
    """OpenVINO's Gather-8 is wrong there once shapes are static, or crashes: the divergence batches-of-one."""
    model = model_of(ops.gather_nd(parameter("data", data, kind), parameter("i", tuples, np.int64), batch_dims))
    assert check_stays(model, portable=portable).changes[0].reason.startswith("batches-of-one: ")


@pytest.mark.parametrize(("batch", "kind"), [(-1, "GatherElements-6"), ("1..4", "GatherElements-6"), ("2..4", "Gather-8")])
def test_slices_of_batches_that_may_be_one_stay(batch, kind, rng):
    """The same is so for whole slices, also after `reshape`."""
    index = ops.clamp(parameter("i", [batch, 9, 1], np.int64), 0, 4)
    data = parameter("data", [batch, 5, 6])
    whole = ops.concat([ops.gather(ops.shape_of(index), ops.constant([0, 1]), ops.constant(0)), ops.constant([6])], 0)
    model = model_of(ops.gather_elements(data, ops.broadcast(index, whole), 1))
    other, _ = accelerated(model, portable=True)
    assert kind in operations(other)
    if batch != "2..4":
        other.reshape({0: [1, 5, 6], 1: [1, 9, 1]})
        model.reshape({0: [1, 5, 6], 1: [1, 9, 1]})
        check_same(model, other, [rng.random((1, 5, 6), np.float32), rng.integers(0, 5, (1, 9, 1))])


@pytest.mark.parametrize("batch_dims", [0, 1])
def test_several_coordinates_of_batches_stay(batch_dims):
    """Places are counted from the first dimension of data, so that batches may not stand before it."""
    columns = [ops.clamp(parameter(f"i{k}", [3, 9][1 - batch_dims :], np.int64), 0, 4) for k in range(2)]
    model = model_of(ops.gather_nd(parameter("data", [3, 5, 5][1 - batch_dims :]), side_by_side(*columns), batch_dims))
    _, summary = accelerated(model, "gather-tuples")
    assert bool(summary.changed) == (batch_dims == 0)
    if batch_dims:
        assert summary.changes[0].reason == "the tuples of each batch have several coordinates"


@pytest.mark.parametrize(("behind", "kind"), [((), "Gather-8"), ((3,), "GatherND-8"), ((3, 2), "GatherND-8")])
@pytest.mark.parametrize("sizes", [(7, 5), (4, 5, 6)])
def test_coordinates_become_places(sizes, behind, kind, rng):
    columns = [ops.clamp(parameter(f"i{k}", [9], np.int64), 0, size - 1) for k, size in enumerate(sizes)]
    model = model_of(ops.gather_nd(parameter("data", [*sizes, *behind]), side_by_side(*columns), 0))
    data = rng.random((*sizes, *behind), np.float32)
    indices = [rng.integers(-9, 9, 9) for _ in sizes]
    other, summary = check_accelerated(model, [data, *indices], portable=True)
    assert "Concat-1" not in operations(other)
    assert kind in operations(other)
    assert len(summary.changed) == 1
    expected = data[tuple(index.clip(0, size - 1) for index, size in zip(indices, sizes, strict=True))]
    assert np.array_equal(outputs_of(other, [data, *indices])[0], expected)


def test_a_first_coordinate_may_count_from_the_end(rng):
    columns = [ops.clamp(parameter(f"i{k}", [9], np.int64), low, 4) for k, low in enumerate((-5, 0))]
    model = model_of(ops.gather_nd(parameter("data", [5, 5, 2]), side_by_side(*columns), 0))
    _, summary = check_accelerated(model, [rng.random((5, 5, 2), np.float32), *rng.integers(-9, 9, (2, 9))])
    assert len(summary.changed) == 1


def test_constant_tuples_become_constant_places(rng):
    where = ops.constant(rng.integers(0, 5, (9, 2)))
    model = model_of(ops.gather_nd(parameter("data", [5, 5, 2]), where, 0))
    check_accelerated(model, [rng.random((5, 5, 2), np.float32)], operators=["GatherND-8", "Reshape-1"])


def test_no_tuples_at_all(rng):
    model = model_of(ops.gather_nd(parameter("data", [5, 5, -1]), ops.constant(np.zeros((0, 2), np.int64)), 0))
    check_accelerated(model, [rng.random((5, 5, 3), np.float32)], portable=True)


def clamped(name, *shape, high=4, low=0, kind=np.int64):
    return ops.clamp(parameter(name, shape, kind), low, high)


def columns_of(pairs):
    return [ops.gather(pairs, ops.constant(k), ops.constant(1)) for k in range(2)]


COORDINATES_THAT_STAY = {
    "negative": ([5, 5], lambda: side_by_side(*(clamped(name, 9, low=-5) for name in "ij"))),
    "not in bounds": ([5, 5], lambda: side_by_side(*(parameter(name, [9], np.int64) for name in "ij"))),
    "one tensor": ([5, 5], lambda: side_by_side(*columns_of(clamped("i", 9, 2)))),
    "no columns": ([5, 5, 5], lambda: clamped("i", 9, 2)),
    "a pair": ([5, 5, 5], lambda: ops.concat([clamped("i", 9, 2), clamped("j", 9, 1)], -1)),
    "below": ([5, 5, 5], lambda: ops.concat([clamped("i", 9, 2), clamped("j", 9, 2)], 0)),
    "bytes": ([20, 20], lambda: side_by_side(*(clamped(name, 9, high=19, kind=np.uint8) for name in "ij"))),
    "open sizes": (["1..", "1.."], lambda: side_by_side(*(clamped(name, 9, high=0) for name in "ij"))),
    "too small": ([5, 5], lambda: side_by_side(*(clamped(name, 9) for name in "ij"))),
}


@pytest.mark.parametrize("case", COORDINATES_THAT_STAY)
def test_coordinates_that_stay(case, monkeypatch):
    if case == "too small":
        monkeypatch.setattr(costs, "SMALL", 8192)
    data, tuples = COORDINATES_THAT_STAY[case]
    assert check_stays(model_of(ops.gather_nd(parameter("data", data), tuples(), 0)), "gather-tuples").changes[-1].reason


def positions(taken, *, data=(3, 5, 4), axis=1, scalar=True, gather=ops.gather, behind=lambda node: node):
    value = parameter("data", list(data))
    index = [ops.constant(np.array(one if scalar else [one])) for one in taken]
    return model_of(*(behind(gather(value, each, ops.constant(axis))) for each in index))


@pytest.mark.parametrize("scalar", [True, False])
@pytest.mark.parametrize(("taken", "axis"), [(range(5), 1), ([3, 1, 0, 2, 4, 1], 1), (range(-5, 0), -2), (range(4), 2)])
def test_gathers_of_every_position_become_one_split(taken, axis, scalar, rng):
    model = positions(taken, axis=axis, scalar=scalar)
    names = [result.input_value(0).get_node().get_friendly_name() for result in model.get_results()]
    other, summary = check_accelerated(model, [rng.random((3, 5, 4), np.float32)], portable=True)
    assert [change.done for change in summary.changes] == [[f"one Split for {len(taken)}"]] * len(taken)
    assert not any(change.rounds_elsewhere for change in summary.changes)
    assert operations(other).count("Split-1") == 1
    assert [result.input_value(0).get_node().get_friendly_name() for result in other.get_results()] == names


@pytest.mark.parametrize(
    "options",
    [
        {"taken": range(4)},
        {"taken": range(5, 10)},
        {"taken": range(3), "data": (3, 3, 4)},
        {"taken": range(5), "data": (3, -1, 4)},
        {"taken": range(-5, 0), "gather": lambda *given: opset7.gather(*given)},
        {"taken": range(5), "behind": ops.relu},
    ],
    ids=["one is left", "out of bounds", "few", "open", "Gather-7 writes zeros", "computed before"],
)
def test_positions_that_stay(options):
    check_stays(positions(**options), "split-gathers")
