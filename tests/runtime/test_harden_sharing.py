"""One guard serves as many gathers and scatters as it can, and no value that is no index of theirs."""

from collections import Counter

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset7, opset8, opset15
from openvino import opset13 as ops

import ov_gather
from helpers.hardening import EACH_POLICY, RAISED, compile_model, outputs
from helpers.openvino_models import made_of
from ov_gather.acceleration.unproved import unproved_sites
from ov_gather.ranges import solver
from ov_gather.ranges.analysis import Assumption
from ov_gather.ranges.prove import graph_of


def guards(model, policy, portable=False):
    return ov_gather.harden(model, policy=policy, portable=portable).guards


def rows(count):
    return np.arange(1, count + 1, dtype=np.float32)


def taken_and_written(x):
    """Elements that constants take from a vector, by three gathers and a scatter."""
    taken = [ops.gather(x, np.int32(index), 0) for index in (0, [1, -1], [[2]])]
    return *taken, opset15.scatter_nd_update(x, np.int32([[1]]), np.float32([50]))


@pytest.mark.parametrize(
    ("policy", "portable", "two"),
    [
        ("raise", False, RAISED),
        ("raise", True, RAISED),
        ("clamp", True, [[1], [2, 2], [2], [1, 50]]),
        ("zero", True, [[1], [2, 2], [0], [1, 50]]),
    ],
)
def test_constants_of_an_open_axis(policy, portable, two):
    model = made_of(taken_and_written, x="f32[?]")
    count = guards(model, policy, portable)
    assert count <= {"raise": 1, "clamp": 2, "zero": 4}[policy]
    assert outputs(model, rows(3)) == [[1], [2, 3], [3], [1, 50, 3]]
    assert outputs(model, rows(2)) == two
    assert outputs(model, rows(0)) == RAISED


@pytest.mark.parametrize(
    ("opset", "taken", "least"), [(opset8, [1, -3], 3), (opset8, [0, 0], 1), (opset1, [0, 1], 2), (opset1, [-1, 0], 99)]
)
def test_one_check_of_the_size_serves_constants(opset, taken, least):
    """Before Gather-8 nothing counts from the end, so that -1 is never in bounds."""
    model = made_of(lambda x: [opset.gather(x, np.int32(part), 0) for part in (taken, taken[:1])], x="f32[?]")
    summary = ov_gather.harden(model, policy="raise", portable=True)
    told = "raises if the axis is empty" if least == 1 else "raises: a check of the size of the axis"
    assert ({site.done for site in summary.sites} == {f"{told}, one for 2 sites"}) == (least < 99)
    for count in range(5):
        expected = RAISED if count < least else [rows(count)[taken].tolist(), rows(count)[taken[:1]].tolist()]
        assert outputs(model, rows(count)) == expected


@EACH_POLICY
def test_the_best_of_an_open_axis_needs_no_more_than_an_element(policy, portable):
    """Three gathers take a row by the position of the greatest element; one check says that there are rows."""

    def make(x, other):
        best = ops.topk(x, 1, 0, "max", "value", "i32").output(1)
        places = (best, ops.squeeze(best, 0), ops.unsqueeze(best, 0))
        return *(ops.gather(x, place, 0) for place in places), ops.negative(other)

    model = made_of(make, x="f32[?,2]", other="f32[?]")
    given = np.float32([[1, 9], [5, 2], [3, 4]])
    before = outputs(model, given, rows(1))
    assert guards(model, policy, portable) == 1
    assert outputs(model, given, rows(1)) == before != RAISED
    assert outputs(model, given[:0], rows(1)) == RAISED


@pytest.mark.sampled(3)
@EACH_POLICY
def test_no_index_is_out_of_bounds_of_an_empty_axis_where_there_is_none(policy, portable):
    model = made_of(
        lambda x, ids, updates: (ops.gather(x, ids, 0), ops.scatter_elements_update(x, ids, updates, 0, "sum")),
        **{"x": "f32[?]", "ids": "i32[?]", "updates": "f32[?]"},
    )
    guards(model, policy, portable)
    nothing = np.zeros(0, np.int32)
    assert outputs(model, rows(0), nothing, rows(0)) == [[], []]
    assert outputs(model, rows(2), nothing, rows(0)) == [[], [1, 2]]
    assert outputs(model, rows(2), np.int32([-1]), rows(1)) == [[2], [1, 3]]
    assert outputs(model, rows(0), np.int32([0]), rows(1)) == RAISED


def moved_indices(ids):
    """Indices that reach two gathers on two ways, and an addition on one of them."""
    column = ops.unsqueeze(ids, 1)
    spread = ops.broadcast(column, ops.concat([[1], ops.shape_of(ids), [3]], 0))
    elements = ops.gather_elements(ops.constant(np.tile(rows(4)[:, None], (1, 1, 3))), spread, 1)
    return ops.gather(rows(4), column, 0), elements, ops.convert(ops.add(column, np.int32(100)), "f32")


@pytest.mark.parametrize(
    ("policy", "portable", "taken"),
    [("raise", True, RAISED), ("clamp", True, [[4, 4], [4] * 6]), ("zero", True, [[4, 0], [4, 4, 4, 0, 0, 0]])],
)
@pytest.mark.parametrize("count", ["2", "?"])
def test_a_guard_at_an_input_serves_all_ways_from_it(count, policy, portable, taken):
    """What else is computed on these ways takes the input as it was given."""
    model = made_of(moved_indices, ids=f"i32[{count}]")
    assert guards(model, policy, portable) == 1
    assert outputs(model, np.int32([-1, 2])) == [[4, 3], [4, 4, 4, 3, 3, 3], [99, 102]]
    assert outputs(model, np.int32([-1, 77])) == (taken if taken == RAISED else [*taken, [99, 177]])


@EACH_POLICY
def test_columns_that_are_no_indices_may_hold_anything(policy, portable):
    """Two columns of an input look up a table, and the third one is a number."""

    def make(ids):
        *columns, number = (ops.gather(ids, np.int32(column), 1) for column in range(3))
        return *(ops.gather(rows(4), column, 0) for column in columns), ops.convert(number, "f32")

    model = made_of(make, ids="i32[2,3]")
    count = guards(model, policy, portable)
    assert count == (2 if policy == "raise" else 1)
    assert outputs(model, np.int32([[0, -1, 7777], [3, 2, -9]])) == [[1, 4], [4, 3], [7777, -9]]
    changed = outputs(model, np.int32([[0, 4, 7777], [-99, 2, -9]]))
    assert changed == {"raise": RAISED, "clamp": [[1, 1], [4, 3], [7777, -9]], "zero": [[1, 0], [0, 3], [7777, -9]]}[policy]


@pytest.mark.parametrize(("policy", "portable"), [("raise", True), ("clamp", True)])
@pytest.mark.parametrize(
    "columns_of",
    [
        lambda ids: ops.split(ids, 1, 2).outputs(),
        lambda ids: [opset7.gather(ids, np.int32(column), ops.constant(1), 0) for column in range(2)],
    ],
    ids=["split", "gathered"],
)
def test_all_columns_share_a_guard(policy, portable, columns_of):
    model = made_of(lambda ids: [ops.gather(rows(4), column, 0) for column in columns_of(ids)], ids="i32[2,2]")
    assert guards(model, policy, portable) == 1
    assert outputs(model, np.int32([[0, -1], [3, 2]])) == [[1, 4], [4, 3]]
    assert outputs(model, np.int32([[0, 5], [3, 2]])) == (RAISED if policy == "raise" else [[1, 4], [4, 3]])


def test_the_size_of_an_axis_is_computed_once():
    def make(x, *inputs):
        data = x, ops.relu(x), ops.abs(x), ops.convert(x, "f16")
        return [ops.convert(ops.gather(one, ids, 0), "f32") for one, ids in zip(data, inputs, strict=True)]

    model = made_of(make, x="f32[?]", **{f"ids_{number}": "i32[3]" for number in range(4)})
    assert guards(model, "clamp") == 4
    assert sum(node.get_type_name() == "ShapeOf" for node in model.get_ops()) == 1
    assert outputs(model, rows(2), *np.int32([[0, 1, -1], [5, 0, 0], [-9, 0, 0], [1, 1, 1]])) == [
        *([1, 2, 2], [2, 1, 1], [1, 1, 1], [2, 2, 2])
    ]


def test_groups_of_sizes_share_most_of_their_analyses(monkeypatch):
    """Without that, the cost of models with many index inputs would be quadratic."""
    evaluated = []
    original = solver.results_of
    monkeypatch.setattr(solver, "results_of", lambda graph, step, call: evaluated.append(step) or original(graph, step, call))

    def make(x, *inputs):
        for ids in inputs:
            for _ in range(10):
                x = ops.relu(ops.add(x, x))
            x = ops.add(x, ops.reduce_sum(ops.gather(x, ops.add(ids, np.int64(1)), 0), [0], keep_dims=True))
        return x

    counts = []
    for count in (10, 20):
        model = made_of(make, x="f32[?,4]", **{f"ids_{number}": "i64[?]" for number in range(count)})
        graph = graph_of(model)
        evaluated.clear()
        _, left = unproved_sites(graph, model, Assumption(), lambda node: True, with_needs=True)
        assert len(left) == count
        counts.append(len(evaluated))
    assert counts[1] < 2.5 * counts[0]


@pytest.mark.parametrize("portable", [False, True])
def test_an_inference_that_raised_leaves_nothing_behind(portable):
    """The next one has no indices: those of the one before are not checked once more."""

    def make(ids, x):
        kept = ops.squeeze(ops.non_zero(ops.not_equal(ids, np.int32(7)), "i32"), 0)
        return ops.gather(x, ops.unsqueeze(ops.gather(ids, kept, 0), 1), 0)

    model = made_of(make, ids="i32[4]", x="f32[?]")
    guards(model, "raise", portable)
    request = ov_gather.register(ov.Core()).compile_model(model, "CPU").create_infer_request()
    for given in ([0, 9, 0, 0], [7, 7, 7, 7], [3, 7, -4, 7]):
        request.start_async([np.array(given, np.int32), rows(4)])
        if 9 in given:
            with pytest.raises(RuntimeError):
                request.wait()
        else:
            request.wait()
            expected = [[rows(4)[index]] for index in given if index != 7]
            assert request.get_output_tensor().data.tolist() == expected


def picked(places, count, axes=(0, 0, 0), opset=opset8):
    """Rows of an input that are indices, each of a gather of its own."""

    def make(edges):
        taken = (opset.gather(edges, np.int32(place), axis) for place, axis in zip(places, axes, strict=False))
        return [ops.gather(rows(10), one, 0) for one in taken]

    return made_of(make, edges=f"i32[{count},4]")


@pytest.mark.parametrize(
    ("model", "exact", "any_element"),
    [
        (lambda: picked((0, 1), 2), 1, 1),
        (lambda: picked((0, -1), 2), 1, 1),
        (lambda: picked((0, 1), 2, axes=(0, -2)), 1, 1),
        (lambda: picked(([0, 1], 2), 3), 1, 1),
        (lambda: picked((0, 1, 1), 2), 1, 1),
        (lambda: picked((0, 1), 3), 2, 1),  # the third row may hold anything, which must not raise
        (lambda: picked((0, 1), 2, axes=(0, 1)), 2, 1),
        (lambda: picked((0, 2), 2), 3, 3),  # a row that is not there is an index out of bounds, too
        (lambda: picked((0, -1), 2, opset=opset1), 3, 3),  # before Gather-8 nothing counts from the end
    ],
)
def test_rows_that_are_all_indices_share_a_guard(model, exact, any_element):
    assert guards(model(), "raise", True) == exact
    assert guards(model(), "clamp", True) == any_element
    assert guards(model(), "zero", True) == any_element


@pytest.mark.sampled(7)
@EACH_POLICY
@pytest.mark.parametrize("shape", ["?,4", "?,?", "..."])
def test_indices_that_are_repeated_no_times_are_none(policy, portable, shape):
    """The repeated indices are guarded: the given ones may be out of bounds if no row repeats them."""
    model = made_of(
        lambda i, like: ops.gather(rows(5), ops.broadcast(i, ops.shape_of(like)), 0), i="i32[4]", like=f"i32[{shape}]"
    )
    guards(model, policy, portable)
    model.reshape({1: [-1, 4]})  # the CPU plugin needs the rank
    bad, good = np.array([0, 1, 99, 4], np.int32), np.array([0, 1, -1, 4], np.int32)
    assert outputs(model, bad, np.zeros((0, 4), np.int32)) == [[]]
    assert outputs(model, good, np.zeros((2, 4), np.int32)) == [[1, 2, 5, 5] * 2]
    zeroed = [[1, 2, 0, 5]] if shape != "..." else RAISED  # there are no zeros for gathers of open rank
    expected = {"raise": RAISED, "clamp": [[1, 2, 5, 5]], "zero": zeroed}[policy]
    assert outputs(model, bad, np.zeros((1, 4), np.int32)) == expected


def twice(x, i):
    """Elements of a vector that is put together of an input and itself."""
    return ops.gather(ops.concat([x, x], 0), i, 0)


def turned(x, i):
    """Elements of a transposed matrix, by two coordinates."""
    return ops.gather_nd(ops.transpose(x, [1, 0]), i)


@pytest.mark.sampled(7)
@EACH_POLICY
@pytest.mark.parametrize(
    ("taken", "shape", "x", "inside", "right", "beyond", "clamped"),
    [
        (twice, "?", rows(3), [5, -6], [3, 1], [0, 6], [1, 3]),
        (turned, "?,2", rows(6).reshape(2, 3), [[2, 1], [-3, 0]], [6, 1], [[0, 1], [3, 1]], [4, 6]),
        (turned, "?,?", rows(6).reshape(2, 3), [[2, 1], [-3, 0]], [6, 1], [[0, 1], [3, 1]], [4, 6]),
    ],
)
def test_the_axis_is_that_of_data_which_an_input_became(policy, portable, taken, shape, x, inside, right, beyond, clamped):
    """Neither is as long as an axis of the input."""
    model = made_of(taken, x="f32[?]" if x.ndim == 1 else "f32[?,?]", i=f"i32[{shape}]")
    guards(model, policy, portable)
    model.reshape({1: np.shape(inside)})
    assert outputs(model, x, np.int32(inside)) == [right]
    zeroed = RAISED if shape == "?,?" else [[clamped[0], 0]]  # as above
    assert outputs(model, x, np.int32(beyond)) == {"raise": RAISED, "clamp": [clamped], "zero": zeroed}[policy]


@pytest.mark.parametrize("kinds", [(np.int32, np.int64), (np.int64, np.int32)])
def test_indices_of_several_types_share_a_check_of_the_size(kinds):
    model = made_of(lambda x: [ops.gather(x, np.array([0, 2], kind), 0) for kind in kinds], x="f32[?]")
    assert guards(model, "raise", True) == 1
    assert outputs(model, rows(3)) == [[1, 3], [1, 3]]
    assert outputs(model, rows(2)) == RAISED
    assert outputs(model, rows(0)) == RAISED


SIZES = (4, 9, 6)
COLUMNS = {
    "gathered": lambda ids: [ops.gather(ids, np.int64(column), 1) for column in range(3)],
    "split": lambda ids: [ops.squeeze(part, 1) for part in ops.split(ids, 1, 3).outputs()],
    "sliced": lambda ids: [ops.squeeze(ops.slice(ids, [i], [i + 1], [1], [1]), 1) for i in range(3)],
    "last but one": lambda ids: [ops.gather(part, np.int64(i), 1) for part in [ops.unsqueeze(ids, 2)] for i in range(3)],
}


def by_columns(columns_of, shape):
    """Tables of different sizes, which the columns of an input look up; the third is no table's."""

    def make(ids):
        *columns, number = columns_of(ids)
        return *(ops.gather(rows(size), part, 0) for size, part in zip(SIZES, columns, strict=False)), ops.convert(
            number, "f32"
        )

    return made_of(make, ids=f"i64[{shape}]")


@pytest.mark.sampled(4)
@EACH_POLICY
@pytest.mark.parametrize("columns_of", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("shape", ["4,3", "?,3"])
def test_columns_for_axes_of_different_sizes_share_a_guard(policy, portable, columns_of, shape):
    """Each has its own bounds, and what is no index may be any number."""
    model = by_columns(columns_of, shape)
    assert guards(model, policy, portable) == (1 if portable else 2)
    model = compile_model(model)
    good = np.int64([[0, -9, 7777], [-4, 8, -(2**31)], [3, 0, 2**31 - 1], [-1, -1, 5]])
    numbers = [7777, -(2.0**31), 2.0**31, 5]
    assert outputs(model, good) == [[1, 1, 4, 4], [1, 9, 1, 9], numbers]
    for column, bad in ((0, 4), (0, -5), (0, 2**31 - 1), (0, -(2**31)), (1, 9), (1, -10), (1, 2**31 - 1), (1, -(2**31))):
        given, expected = good.copy(), [[1, 1, 4, 4], [1, 9, 1, 9], numbers]
        given[2, column] = bad
        expected[column][2] = {"clamp": SIZES[column] if bad > 0 else 1, "zero": 0}.get(policy)
        assert outputs(model, given) == (RAISED if policy == "raise" else expected), (column, bad)


def test_a_column_that_means_two_sizes_is_guarded_twice():
    model = made_of(
        lambda ids: [
            ops.gather(rows(size), ops.gather(ids, np.int64(column), 1), 0) for size, column in ((4, 0), (9, 1), (6, 0), (5, 1))
        ],
        ids="i32[2,2]",
    )
    assert guards(model, "clamp") <= 3
    assert outputs(model, np.int32([[-1, -1], [7, 7]])) == [[4, 4], [9, 8], [6, 6], [5, 5]]


@pytest.mark.parametrize(("policy", "limit"), [("raise", 11), ("clamp", 4), ("zero", 10)])
def test_the_number_of_guarding_operations_does_not_grow_with_the_columns(policy, limit):
    def make(ids):
        columns = (ops.gather(ids, np.int64(column), 1) for column in range(26))
        return [ops.gather(rows(10 + number), column, 0) for number, column in enumerate(columns)]

    model = made_of(make, ids="i64[64,26]")
    before = operations(model)
    guards(model, policy, True)
    added = operations(model) - before
    assert sum(added.values()) <= limit + (26 if policy == "zero" else 0), added  # a Pad of each constant, folded


def operations(model):
    return Counter(node.get_type_name() for node in model.get_ops() if node.get_type_name() != "Constant")


@pytest.mark.sampled(3)
@EACH_POLICY
def test_coordinates_are_compared_in_long_rows(policy, portable):
    """The plugin is slow where it compares rows of three."""
    table = np.arange(1, 61, dtype=np.float32).reshape(3, 4, 5)
    model = made_of(lambda ids: ops.gather_nd(table, ids), ids="i32[340,3]")
    guards(model, policy, portable)
    is_long = any(list(node.get_output_shape(0))[-1:] == [510] for node in model.get_ops() if node.get_type_name() == "Minimum")
    assert is_long == (portable and policy != "clamp")
    ids = np.tile(np.int32([[0, 0, 0], [2, 3, 4], [-3, -4, -5], [-1, -1, -1]]), (85, 1))
    assert outputs(model, ids) == [[1, 60, 1, 60] * 85]
    for place, bad in ((0, 3), (1, 4), (2, 5), (0, -4), (1, -5), (2, -6), (2, 2**31 - 1), (0, -(2**31))):
        given = ids.copy()
        given[7, place] = bad
        found = outputs(model, given)
        nearest = given.clip([-3, -4, -5], [2, 3, 4])
        number = 0 if policy == "zero" else float(table[tuple(nearest[7])])
        assert found == (RAISED if policy == "raise" else [[*[1, 60, 1, 60] * 1, 1, 60, 1, number, *[1, 60, 1, 60] * 83]])


@pytest.mark.parametrize("kind", ["elements", "tuples"])
def test_zeros_copy_no_computed_data_of_which_little_is_read(kind):
    def make(x, ids):
        scores = ops.relu(x)
        return ops.gather_elements(scores, ids, 1) if kind == "elements" else ops.gather_nd(scores, ids)

    model = made_of(make, x="f32[2,9]", ids="i32[2,2]")
    guards(model, "zero")
    assert operations(model)["Pad"] == 0
    x = np.arange(1, 19, dtype=np.float32).reshape(2, 9)
    good, bad = ([[0, -1], [3, 9]], [1, 9, 13, 0]) if kind == "elements" else ([[0, -1], [1, 9]], [9, 0])
    assert outputs(model, x, np.int32(good)) == [bad]


def test_what_moves_indices_is_not_computed_twice():
    """A scatter is guarded, and a GatherElements, which raises by itself, takes the same guarded indices."""

    def make(x, ids):
        spread = ops.broadcast(ops.unsqueeze(ids, 1), [8, 3])
        taken = ops.gather_elements(x, spread, 0)
        return ops.scatter_elements_update(x, spread, taken, 0, "sum")

    for portable in (False, True):
        model = made_of(make, x="f32[5,3]", ids="i32[8]")
        guards(model, "raise", portable)
        assert operations(model)["Broadcast"] == 1
        x = np.ones((5, 3), np.float32)
        assert outputs(model, x, np.int32([0, 1, 2, 3, 4, -1, -5, 0])) == [[4.0] * 3 + [2.0] * 9 + [3.0] * 3]
        assert outputs(model, x, np.int32([0, 1, 2, 3, 5, -1, -5, 0])) == RAISED


def counted(ids, x, *, is_data):
    """The rows that indices count, as PyTorch exports it: the updates or data have the shape of the spread indices."""
    spread = ops.broadcast(ops.unsqueeze(ids, 1), ops.concat([ops.shape_of(ids), [2]], 0))
    ones = ops.broadcast(np.float32(1), ops.shape_of(spread))
    zeros = ops.multiply(ops.concat([ones, ones], 0) if is_data else x, np.float32(0))
    return ops.scatter_elements_update(zeros, spread, ones, 0, "sum")


@EACH_POLICY
@pytest.mark.parametrize("is_data", [False, True])
def test_moved_indices_are_not_computed_twice_for_their_shape(policy, portable, is_data):
    """Unless the guard needs this shape itself: here for the data, which is twice as long as the indices."""
    model = made_of(lambda ids, x: counted(ids, x, is_data=is_data), ids="i32[?]", x="f32[?,2]")
    guards(model, policy, portable)
    assert operations(model)["Unsqueeze"] == 1 + is_data
    model = compile_model(model)
    for length, given in ((4, [0, 2]), (2, [1]), (4, [0, 4]), (6, [0, 2, -6])):
        want = np.zeros((length, 2), np.float32)
        is_inside = max(given) < length
        if policy != "zero" or is_inside:
            np.add.at(want, np.minimum(given, length - 1), 1)
        else:
            want[given[0]] = 1
        x = np.zeros((length, 2), np.float32)
        expected = RAISED if policy == "raise" and not is_inside else [want.reshape(-1).tolist()]
        assert outputs(model, np.int32(given), x) == expected


def scanned(x):
    """A cumulative sum as PyTorch exports a loop: each step takes a row, and writes the state to a row of the result."""
    out, state = ops.multiply(x, np.float32(0)), np.float32([0, 0])
    for step in range(8):
        state = ops.add(ops.gather(x, np.int64(step), 0), state)
        flat = ops.scatter_nd_update(ops.reshape(out, [-1, 2], False), np.int64([[step]]), ops.unsqueeze(state, 0))
        out = ops.reshape(flat, [-1, 1, 2], False)
    return out


@pytest.mark.parametrize("portable", [False, True])
def test_steps_of_a_loop_wait_for_one_check_together(portable):
    """Its result is added to the first index that is written to, and at once to all that are read."""
    model = made_of(scanned, x="f32[?,2]")
    before = operations(model)["Add"]
    assert guards(model, "raise", portable) == 1
    assert operations(model)["Add"] - before == 2
    model = compile_model(model)
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    for count in (10, 7, 8, 0, 9):
        want = np.concatenate([np.cumsum(x[:8], 0), 0 * x[8:count]])
        assert outputs(model, x[:count]) == (RAISED if count < 8 else [want.reshape(-1).tolist()]), count
