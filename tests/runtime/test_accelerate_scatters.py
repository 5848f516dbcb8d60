"""`accelerate`: scatters of whole rows, and scatters of blocks that constants name."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset3, opset12, opset15
from openvino import opset13 as ops

from helpers.accelerating import (
    accelerated,
    arrays_for,
    check_accelerated,
    check_raises,
    check_same,
    check_stays,
    model_of,
    operations,
    outputs_of,
    parameter,
    transpose,
)
from helpers.branching import if_of
from helpers.seeds import seeds
from ov_gather.acceleration import costs
from ov_gather.acceleration.graph import ours

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def rows_model(reduction="sum", *, kind=np.float32, shape=(9, 5, 6), index=None, count=9, data=(7, 5, 6), axis=0, **options):
    """A scatter of whole rows of data, whose index is repeated to `shape`."""
    column = parameter("i", [count, *[1] * (len(shape) - 1)], np.int64) if index is None else index
    repeated = ops.broadcast(column, ops.constant(np.array(shape)))
    given = parameter("data", list(data), kind), repeated, parameter("u", list(shape), kind)
    return model_of(opset12.scatter_elements_update(*given, ops.constant(axis), reduction, **options))


@pytest.mark.parametrize("portable", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max"])
def test_rows_are_reduced_by_one_index_each(reduction, kind, portable):
    model = rows_model(reduction, kind=kind)
    _, summary = check_accelerated(model, *(arrays_for(model, seed) for seed in range(3)), portable=portable)
    assert summary.changes[0].steps == ["ScatterNDUpdate-15 by [9,1]"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
@pytest.mark.parametrize("reduction", ["sum", "min", "max"])
def test_special_numbers_in_rows(reduction, value):
    model = rows_model(reduction)
    data, indices, updates = arrays_for(model)
    updates.reshape(-1)[::3] = value
    data.reshape(-1)[::4] = value
    check_accelerated(model, [data, indices, updates])


def test_rows_without_reduction_become_ours_for_the_last_update_counts():
    model = rows_model("none")
    data, indices, updates = arrays_for(model)
    other, _ = check_accelerated(model, [data, indices, updates], done=["ov_gather.ScatterND by [9,1]"])
    expected = data.copy()
    for row, index in enumerate(indices.ravel()):
        expected[index] = updates[row]
    assert np.array_equal(outputs_of(other, [data, indices, updates])[0], expected)
    check_stays(model, portable=True, reason="threads of OpenVINO's ScatterNDUpdate race for a row that is written twice")


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_rows_by_our_own_scatter(reduction):
    repeated = ops.broadcast(parameter("i", [9, 1, 1], np.int64), ops.constant(np.array([9, 5, 6])))
    given = [node.output(0) for node in (parameter("data", [7, 5, 6]), repeated, parameter("u", [9, 5, 6]))]
    model = model_of(ours("ScatterElements", given, {"axis": 0, "reduction": reduction}))
    check_stays(model, portable=True)
    check_accelerated(model, arrays_for(model), done=["ov_gather.ScatterND by [9,1]"])


@pytest.mark.parametrize("bad", [7, 700])
@pytest.mark.parametrize("reduction", ["sum", "none"])
def test_rows_out_of_bounds_are_an_error_as_before(reduction, bad):
    model = rows_model(reduction)
    data, indices, updates = arrays_for(model)
    indices[4] = bad
    check_raises([data, indices, updates], model, accelerated(model)[0])


def test_rows_of_which_the_number_is_open(rng):
    """There are as many indices as updates, and one alone is repeated for all of them, as before."""
    column, updates = parameter("i", [-1, 1], np.int64), parameter("u", [-1, 6])
    repeated = ops.convert(ops.broadcast(ops.convert(column, "i32"), ops.shape_of(updates)), "i64")
    model = model_of(opset12.scatter_elements_update(parameter("data", [7, 6]), repeated, updates, ops.constant(0), "sum"))
    data, sizes = rng.random((7, 6), np.float32), ((4, 4), (1, 5), (1, 1))
    cases = ([data, rng.integers(-7, 7, (count, 1)), rng.random((rows, 6), np.float32)] for count, rows in sizes)
    _, summary = check_accelerated(model, *cases, done=["ScatterNDUpdate-15 by [?,1]"])
    assert not summary.changes[0].rounds_elsewhere


NO_SUCH_REDUCTION, IN_PART = "ScatterNDUpdate has no such reduction", "rows may be scattered in part"
ROWS_THAT_STAY = {
    "another axis": ({"axis": 1, "data": (9, 5, 6)}, "it scatters along another axis than the first"),
    "mean": ({"reduction": "mean"}, NO_SUCH_REDUCTION),
    "no initial value": ({"use_init_val": False}, NO_SUCH_REDUCTION),
    "half": ({"kind": np.float16}, "of f16 not all bits are known to stay the same"),
    "single elements": ({"data": [7, 1], "shape": (9, 1)}, "a row is a single element"),
    "part of rows": ({"data": [7, 5, 8]}, IN_PART),
    "open rows": ({"data": [7, -1, 6]}, IN_PART),
    "a row has several": ({"index": parameter("i", [9, 5, 1], np.int64)}, "no index is repeated for a whole row"),
}


@pytest.mark.parametrize("name", ROWS_THAT_STAY)
def test_rows_that_stay(name):
    options, reason = ROWS_THAT_STAY[name]
    assert check_stays(rows_model(**options), "scatter-rows").changes[0].reason == reason


def test_one_index_for_all_rows():
    assert accelerated(rows_model(count=1), "scatter-rows")[1].changes[0].done == ["ScatterNDUpdate-15 by [9,1]"]


def block_model(where, *, kind="nd", data=(6, 5, 4), axis=0, order=None):
    """A scatter of a Parameter by constant indices: tuples, or elements along an axis."""
    indices = np.asarray(where)
    shape = (*indices.shape[:-1], *data[indices.shape[-1] :]) if kind == "nd" else indices.shape
    given = parameter("data", [data[order.index(i)] for i in range(len(data))] if order else list(data))
    updates = parameter("u", [shape[order.index(i)] for i in range(len(shape))] if order else list(shape))
    if order:
        given, updates = (ops.transpose(one, ops.constant(np.array(order))) for one in (given, updates))
    if kind == "nd":
        return model_of(opset15.scatter_nd_update(given, ops.constant(indices), updates))
    return model_of(opset3.scatter_elements_update(given, ops.constant(indices), updates, ops.constant(axis)))


def tuples(*ranges):
    """The coordinates of a block, side by side in the last axis."""
    return np.stack(np.meshgrid(*[np.arange(*each) for each in ranges], indexing="ij"), -1)


BLOCKS = {
    "first rows": ({"where": tuples((0, 2))}, 1),
    "last rows, counted from the end": ({"where": tuples((-2, 0))}, 1),
    "one row in the middle": ({"where": tuples((3, 4))}, 1),
    "columns of every row": ({"where": tuples((0, 6), (1, 4))}, 1),
    "a block of two axes": ({"where": tuples((1, 4), (2, 5))}, 2),
    "a block of three axes": ({"where": tuples((1, 4), (2, 5), (0, 3))}, 3),
    "tuples in one line": ({"where": tuples((1, 4), (0, 5)).reshape(-1, 2)}, 1),
    "elements along an axis": ({"where": np.tile([[[1], [2]]], (6, 1, 4)), "kind": "elements", "axis": 1}, 1),
    "elements, fewer off the axis": ({"where": np.full((2, 1, 4), -1), "kind": "elements", "axis": 1}, 2),
    "behind Transposes": ({"where": tuples((1, 3)), "order": [2, 0, 1]}, 1),
}


@pytest.mark.parametrize("order", ["data", "updates"])
def test_a_block_of_which_one_side_is_transposed(order):
    data = transpose(parameter("data", [5, 6])) if order == "data" else parameter("data", [6, 5])
    updates = transpose(parameter("u", [5, 2])) if order == "updates" else parameter("u", [2, 5])
    model = model_of(opset15.scatter_nd_update(data, ops.constant(tuples((1, 3))), updates))
    check_accelerated(model, arrays_for(model), portable=True, done=["Concat with what is around the block"])


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_become_concats(name):
    options, concats = BLOCKS[name]
    model = block_model(**options)
    other, _ = check_accelerated(model, arrays_for(model), portable=True, done=["Concat with what is around the block"])
    found = operations(other)
    assert found.count("Concat-1") == concats
    assert not any(name.startswith("Scatter") for name in found)
    if "order" in options:
        assert found.count("Transpose-1") == 1  # behind, where it meets the one that an exporter writes there


@pytest.mark.parametrize("step", [1, 2])
def test_a_chain_of_blocks_becomes_one_concat(step):
    """Each step of a loop overwrites a row; where some rows stay, they are cut out of what was there."""
    value = parameter("data", [6, 5])
    for row in range(0, 6, step):
        update = parameter(f"u{row}", [1, 5])
        value = opset3.scatter_elements_update(value, ops.constant(np.full((1, 5), row)), update, ops.constant(0))
    model = model_of(value)
    found = ["Concat-1", *["Slice-8"] * (0 if step == 1 else 3)]
    _, summary = check_accelerated(model, arrays_for(model), operators=found)
    assert [change.done for change in summary.changes] == [["Concat with what is around the block"]] * (6 // step)


def test_blocks_that_overlap_in_a_chain():
    value = parameter("data", [6, 5])
    for start, stop in ((0, 3), (2, 5), (1, 2), (4, 6)):
        update = parameter(f"u{start}", [stop - start, 5])
        value = opset15.scatter_nd_update(value, ops.constant(tuples((start, stop))), update)
    model = model_of(value, ops.relu(value.input_value(0).get_node()))
    other, _ = check_accelerated(model, arrays_for(model))
    assert "Concat-1" in operations(other)


def test_what_is_overwritten_still_raises():
    """The random models found that an error was lost with what nothing read any more."""
    gathered = ops.gather_elements(parameter("data", [7, 5]), parameter("j", [6, 5], np.int64), 0)
    value = gathered
    for start, stop in ((0, 3), (3, 6)):
        value = opset15.scatter_nd_update(value, ops.constant(tuples((start, stop))), parameter(f"u{start}", [3, 5]))
    model = model_of(value)
    other, summary = accelerated(model)
    assert len(summary.changed) == 3
    updates = np.zeros((3, 5), np.float32)
    check_raises([np.zeros((7, 5), np.float32), np.full((6, 5), 7), updates, updates], model, other)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (tuples((0, 6)), "it overwrites everything"),
        *(([[a], [b]], "contiguous block") for a, b in ((0, 2), (1, 0), (1, 1), (5, 6))),
    ],
    ids=["everything", "a gap", "backwards", "twice", "out of bounds"],
)
def test_what_is_no_block(where, reason):
    check_stays(block_model(where), reason=reason, portable=True)


@pytest.mark.parametrize(("data", "axis", "stays"), [([7], 0, True), ([7, 2], 0, True), ([1, 7], 1, True), ([2, 7], 1, False)])
def test_a_block_that_several_operations_read(data, axis, stays, rng):
    """OpenVINO writes what Abs computes over a Concat whose parts lie in its memory, though others still read that."""
    where = np.full([1 if i == axis else size for i, size in enumerate(data)], 2)
    given = parameter("data", data), ops.constant(where), parameter("u", list(where.shape))
    written = ops.scatter_elements_update(*given, ops.constant(axis))
    model = model_of(ops.negative(written), ops.abs(written), ops.relu(written))
    other, summary = accelerated(model, "assign-blocks")
    assert bool(summary.changed) != stays
    arrays = [-rng.random(data, np.float32), -rng.random(where.shape, np.float32)]
    expected = arrays[0].copy()
    np.put_along_axis(expected, where, arrays[1], axis)
    negative, absolute, positive = outputs_of(other, arrays)
    assert np.array_equal(negative, -expected)
    assert np.array_equal(absolute, -expected)
    assert not positive.any()


def test_open_shapes_and_reductions_are_no_blocks():
    where = ops.constant(tuples((0, 2)))
    opened = opset15.scatter_nd_update(parameter("data", [-1, 5]), where, parameter("u", [2, 5]))
    reduced = opset15.scatter_nd_update(parameter("d", [6, 5]), where, parameter("v", [2, 5]), "sum")
    check_stays(model_of(opened, reduced))


def test_a_small_block_of_several_axes_stays(monkeypatch):
    monkeypatch.setattr(costs, "SMALL", 8192)
    assert accelerated(block_model(tuples((1, 4), (2, 5))))[1].changes[0].reason == "too small to gain"


def test_random_blocks():
    for seed in seeds(40):
        random = np.random.default_rng(seed)
        data = tuple(int(size) for size in random.integers(1, 6, random.integers(1, 4)))
        cut = data[: int(random.integers(1, len(data) + 1))]
        starts = [int(random.integers(0, size)) for size in cut]
        stops = [int(random.integers(start + 1, size + 1)) for start, size in zip(starts, cut, strict=True)]
        where = tuples(*zip(starts, stops, strict=True))
        from_end = np.where(random.random(where.shape) < 0.3, where - np.array(cut), where)
        model = block_model(from_end, data=data)
        other, _ = accelerated(model)
        values, updates = arrays_for(model, seed)
        expected = values.copy()
        expected[tuple(slice(*ends) for ends in zip(starts, stops, strict=True))] = updates
        assert np.array_equal(outputs_of(other, [values, updates])[0], expected)


def test_an_openvino_scatter_in_a_body_of_an_if(rng):
    data, updates, chosen = parameter("data", [6, 5]), parameter("u", [2, 5]), parameter("c", [], np.bool_)
    where = ops.constant(tuples((1, 3)))
    branches = [lambda *given: [opset15.scatter_nd_update(given[0], where, given[1])]] * 2
    model = ov.Model(if_of(chosen, [data, updates], *branches), [data, updates, chosen], "model")
    _, summary = check_accelerated(model, [rng.random((6, 5), np.float32), rng.random((2, 5), np.float32), np.array(True)])
    assert len(summary.changed) == 2


def masked(*coordinates, data=(4, 5, 6), reduction="none", mode="NUMPY"):
    """A scatter by tuples, whose coordinates are repeated to the [n, 5, 6] of updates and put side by side."""
    updates = parameter("u", [-1, 5, 6])
    repeated = [ops.broadcast(one, ops.shape_of(updates), broadcast_spec=mode) for one in coordinates]
    where = ops.concat([ops.unsqueeze(one, ops.constant(np.array([-1]))) for one in repeated], -1)
    return model_of(opset15.scatter_nd_update(parameter("data", list(data)), where, updates, reduction))


def along(size, *shape, start=0):
    return ops.constant(np.arange(start, start + size).reshape(shape))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["NUMPY", "BIDIRECTIONAL"])
@pytest.mark.parametrize("reduction", ["none", "sum", "max"])
@pytest.mark.parametrize("computed", [False, True])
def test_tuples_for_every_element_of_slices_become_tuples_of_slices(reduction, computed, mode, rng):
    rows = parameter("i", [-1, 1, 1], np.int64)
    columns = along(5, 5, 1)
    if computed:
        numbers = ops.range(ops.constant(0), ops.constant(5), ops.constant(1), "i64")
        columns = ops.reshape(numbers, ops.constant(np.array([-1, 1])), False)
    model = masked(rows, columns, along(6, 6), reduction=reduction, mode=mode)
    other, summary = accelerated(model, portable=True)
    assert summary.changes[0].done == ["ScatterNDUpdate-15 by [?,1]"]
    assert not summary.changes[0].rounds_elsewhere
    for rows_of, count in (([1, -4, 3], 3), ([2], 1), ([-1], 2)):
        index = np.array(rows_of).reshape(-1, 1, 1)
        if reduction == "none" and len(index) < count:
            continue  # the threads of both race for a row that is written twice
        data, updates = rng.random((4, 5, 6), np.float32), rng.random((count, 5, 6), np.float32)
        check_same(model, other, [data, index, updates])
        if reduction == "none":
            data[index.ravel()] = updates
            assert np.array_equal(outputs_of(other, [data.copy(), index, updates])[0], data)


def test_several_coordinates_that_are_left(rng):
    rows, columns = (parameter(name, [-1, 1, 1], np.int64) for name in "ij")
    model = masked(rows, columns, along(5, 5, 1), along(6, 6), data=(3, 4, 5, 6))
    given = [np.array(places).reshape(-1, 1, 1) for places in ([0, 2, 2], [1, -1, 0])]
    arrays = [rng.random((3, 4, 5, 6), np.float32), *given, rng.random((3, 5, 6), np.float32)]
    check_accelerated(model, arrays, done=["ScatterNDUpdate-15 by [?,2]"])


GIVEN = parameter("i", [-1, 1, 1], np.int64)


@pytest.mark.parametrize(
    ("coordinates", "data"),
    [
        ([GIVEN, along(5, 5, 1), along(6, 6, start=1)], (4, 5, 7)),
        ([GIVEN, along(5, 5, 1), along(6, 6)], (4, 5, 7)),
        ([GIVEN, ops.constant(np.array([0, 1, 2, 4, 3]).reshape(5, 1)), ops.constant(np.arange(6)[::-1].copy())], (4, 5, 6)),
        ([GIVEN, parameter("c", [5, 1], np.int64), parameter("r", [6], np.int64)], (4, 5, 6)),
        ([along(5, 5, 1), along(6, 6)], (5, 6)),  # there is no coordinate left that slices could have
    ],
    ids=["from 1 on", "not to the end", "another order", "given", "every element"],
)
def test_tuples_that_stay(coordinates, data):
    check_stays(masked(*coordinates, data=data))
