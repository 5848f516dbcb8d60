"""One guard serves as many gathers and scatters as it can, and no value that is no index of theirs."""

from __future__ import annotations

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset7, opset8, opset13, opset15

import ov_gather
from helpers.hardening import RAISED, infer_model

POLICIES = [("raise", False), ("raise", True), ("clamp", True), ("zero", True)]


def parameter(name, shape, dtype=np.int32):
    return opset13.parameter(shape, dtype, name=name)


def constant(*numbers):
    return opset13.constant(np.array(numbers[0] if len(numbers) == 1 else numbers, np.int32))


def guards(model, policy, portable=False):
    return ov_gather.harden(model, policy=policy, portable=portable).guards


def outputs(model, *inputs):
    """What the model computes, as lists of numbers; or RAISED."""
    found = infer_model(model, [np.array(array) for array in inputs])
    return found if found == RAISED else [np.frombuffer(part, np.float32).tolist() for part in found]


def rows(count):
    return np.arange(1, count + 1, dtype=np.float32)


def constant_rows():
    """A vector of which constants take elements, three gathers and a scatter."""
    x = parameter("x", [-1], np.float32)
    taken = [opset8.gather(x, index, opset13.constant(0)) for index in (constant(0), constant([1, -1]), constant([[2]]))]
    written = opset15.scatter_nd_update(x, constant([[1]]), opset13.constant(np.float32([50])))
    return ov.Model([*taken, written], [x], "model")


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
    model = constant_rows()
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
    x = parameter("x", [-1], np.float32)
    model = ov.Model([opset.gather(x, constant(part), opset13.constant(0)) for part in (taken, taken[:1])], [x], "model")
    summary = ov_gather.harden(model, policy="raise", portable=True)
    told = "raises if the axis is empty" if least == 1 else "raises: a check of the size of the axis"
    assert ({site.done for site in summary.sites} == {f"{told}, one for 2 sites"}) == (least < 99)
    for count in range(5):
        expected = RAISED if count < least else [rows(count)[taken].tolist(), rows(count)[taken[:1]].tolist()]
        assert outputs(model, rows(count)) == expected


@pytest.mark.parametrize(("policy", "portable"), POLICIES)
def test_the_best_of_an_open_axis_needs_no_more_than_an_element(policy, portable):
    """Three gathers take a row by the position of the greatest element; one check says that there are rows."""
    x, other = parameter("x", [-1, 2], np.float32), parameter("other", [-1], np.float32)
    best = opset13.topk(x, opset13.constant(1), 0, "max", "value", "i32").output(1)
    places = [best, opset13.squeeze(best, opset13.constant(0)), opset13.unsqueeze(best, opset13.constant(0))]
    taken = [opset8.gather(x, place, opset13.constant(0)) for place in places]
    model = ov.Model([*taken, opset13.negative(other)], [x, other], "model")
    given = np.float32([[1, 9], [5, 2], [3, 4]])
    before = outputs(model, given, rows(1))
    assert guards(model, policy, portable) == 1
    assert outputs(model, given, rows(1)) == before != RAISED
    assert outputs(model, given[:0], rows(1)) == RAISED


@pytest.mark.parametrize(("policy", "portable"), POLICIES)
def test_no_index_is_out_of_bounds_of_an_empty_axis_where_there_is_none(policy, portable):
    x, ids, updates = parameter("x", [-1], np.float32), parameter("ids", [-1]), parameter("updates", [-1], np.float32)
    taken = opset8.gather(x, ids, opset13.constant(0))
    written = opset13.scatter_elements_update(x, ids, updates, opset13.constant(0), "sum")
    model = ov.Model([taken, written], [x, ids, updates], "model")
    guards(model, policy, portable)
    nothing = np.zeros(0, np.int32)
    assert outputs(model, rows(0), nothing, rows(0)) == [[], []]
    assert outputs(model, rows(2), nothing, rows(0)) == [[], [1, 2]]
    assert outputs(model, rows(2), np.int32([-1]), rows(1)) == [[2], [1, 3]]
    assert outputs(model, rows(0), np.int32([0]), rows(1)) == RAISED


def moved_indices(count):
    """Indices that reach two gathers on two ways, and an addition on one of them."""
    ids, table = parameter("ids", [count]), opset13.constant(rows(4))
    column = opset13.unsqueeze(ids, opset13.constant(1))
    taken = opset8.gather(table, column, opset13.constant(0))
    shape = opset13.concat([opset13.constant([1]), opset13.shape_of(ids), opset13.constant([3])], 0)
    spread = opset13.broadcast(column, shape)
    elements = opset13.gather_elements(opset13.constant(np.tile(rows(4)[:, None], (1, 1, 3))), spread, 1)
    number = opset13.convert(opset13.add(column, constant(100)), "f32")
    return ov.Model([taken, elements, number], [ids], "model")


@pytest.mark.parametrize(
    ("policy", "portable", "taken"),
    [("raise", True, RAISED), ("clamp", True, [[4, 4], [4] * 6]), ("zero", True, [[4, 0], [4, 4, 4, 0, 0, 0]])],
)
@pytest.mark.parametrize("count", [2, -1])
def test_a_guard_at_an_input_serves_all_ways_from_it(count, policy, portable, taken):
    """What else is computed on these ways takes the input as it was given."""
    model = moved_indices(count)
    assert guards(model, policy, portable) == 1
    assert outputs(model, np.int32([-1, 2])) == [[4, 3], [4, 4, 4, 3, 3, 3], [99, 102]]
    assert outputs(model, np.int32([-1, 77])) == (taken if taken == RAISED else [*taken, [99, 177]])


@pytest.mark.parametrize(("policy", "portable"), POLICIES)
def test_columns_that_are_no_indices_may_hold_anything(policy, portable):
    """Two columns of an input look up a table, and the third one is a number."""
    ids, table = parameter("ids", [2, 3]), opset13.constant(rows(4))
    columns = [opset8.gather(ids, constant(column), opset13.constant(1)) for column in range(3)]
    taken = [opset8.gather(table, column, opset13.constant(0)) for column in columns[:2]]
    model = ov.Model([*taken, opset13.convert(columns[2], "f32")], [ids], "model")
    count = guards(model, policy, portable)
    assert count == (2 if policy == "raise" else 1)
    assert outputs(model, np.int32([[0, -1, 7777], [3, 2, -9]])) == [[1, 4], [4, 3], [7777, -9]]
    changed = outputs(model, np.int32([[0, 4, 7777], [-99, 2, -9]]))
    assert changed == {"raise": RAISED, "clamp": [[1, 1], [4, 3], [7777, -9]], "zero": [[1, 0], [0, 3], [7777, -9]]}[policy]


def split_columns(ids):
    return opset13.split(ids, opset13.constant(1), 2).outputs()


def gathered_columns(ids):
    return [opset7.gather(ids, constant(column), opset13.constant(1), 0) for column in range(2)]


@pytest.mark.parametrize(("policy", "portable"), [("raise", True), ("clamp", True)])
@pytest.mark.parametrize("columns_of", [split_columns, gathered_columns])
def test_all_columns_share_a_guard(policy, portable, columns_of):
    ids, table = parameter("ids", [2, 2]), opset13.constant(rows(4))
    taken = [opset8.gather(table, column, opset13.constant(0)) for column in columns_of(ids)]
    model = ov.Model(taken, [ids], "model")
    assert guards(model, policy, portable) == 1
    assert outputs(model, np.int32([[0, -1], [3, 2]])) == [[1, 4], [4, 3]]
    assert outputs(model, np.int32([[0, 5], [3, 2]])) == (RAISED if policy == "raise" else [[1, 4], [4, 3]])


def test_the_size_of_an_axis_is_computed_once():
    x, inputs = parameter("x", [-1], np.float32), [parameter(f"ids_{number}", [3]) for number in range(4)]
    data = [x, opset13.relu(x), opset13.abs(x), opset13.convert(x, "f16")]
    taken = [opset8.gather(one, ids, opset13.constant(0)) for one, ids in zip(data, inputs, strict=True)]
    model = ov.Model([opset13.convert(one, "f32") for one in taken], [x, *inputs], "model")
    assert guards(model, "clamp") == 4
    assert sum(node.get_type_name() == "ShapeOf" for node in model.get_ops()) == 1
    assert outputs(model, rows(2), *np.int32([[0, 1, -1], [5, 0, 0], [-9, 0, 0], [1, 1, 1]])) == [
        *([1, 2, 2], [2, 1, 1], [1, 1, 1], [2, 2, 2])
    ]


@pytest.mark.parametrize("portable", [False, True])
def test_an_inference_that_raised_leaves_nothing_behind(portable):
    """The next one has no indices: those of the one before are not checked once more."""
    ids = parameter("ids", [4])
    kept = opset13.squeeze(opset13.non_zero(opset13.not_equal(ids, constant(7)), "i32"), opset13.constant(0))
    chosen = opset13.unsqueeze(opset8.gather(ids, kept, opset13.constant(0)), opset13.constant(1))
    x = parameter("x", [-1], np.float32)
    model = ov.Model([opset8.gather(x, chosen, opset13.constant(0))], [ids, x], "model")
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
    edges, table = parameter("edges", [count, 4]), opset13.constant(rows(10))
    taken = [opset.gather(edges, constant(place), constant(axis)) for place, axis in zip(places, axes, strict=False)]
    return ov.Model([opset8.gather(table, one, constant(0)) for one in taken], [edges], "model")


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


@pytest.mark.parametrize(("policy", "portable"), POLICIES)
@pytest.mark.parametrize("shape", [[-1, 4], [-1, -1], ov.PartialShape.dynamic()])
def test_indices_that_are_repeated_no_times_are_none(policy, portable, shape):
    """The repeated indices are guarded: the given ones may be out of bounds if no row repeats them."""
    given, like = parameter("i", [4]), parameter("like", shape)
    where = opset13.broadcast(given, opset13.shape_of(like))
    model = ov.Model([opset8.gather(opset13.constant(rows(5)), where, constant(0))], [given, like], "model")
    guards(model, policy, portable)
    model.reshape({1: [-1, 4]})  # the CPU plugin needs the rank
    bad, good = np.array([0, 1, 99, 4], np.int32), np.array([0, 1, -1, 4], np.int32)
    assert outputs(model, bad, np.zeros((0, 4), np.int32)) == [[]]
    assert outputs(model, good, np.zeros((2, 4), np.int32)) == [[1, 2, 5, 5] * 2]
    zeroed = [[1, 2, 0, 5]] if isinstance(shape, list) else RAISED  # there are no zeros for gathers of open rank
    expected = {"raise": RAISED, "clamp": [[1, 2, 5, 5]], "zero": zeroed}[policy]
    assert outputs(model, bad, np.zeros((1, 4), np.int32)) == expected


def twice(x, i):
    """Elements of a vector that is put together of an input and itself."""
    return opset8.gather(opset13.concat([x, x], 0), i, constant(0))


def turned(x, i):
    """Elements of a transposed matrix, by two coordinates."""
    return opset8.gather_nd(opset13.transpose(x, constant(1, 0)), i)


@pytest.mark.parametrize(("policy", "portable"), POLICIES)
@pytest.mark.parametrize(
    ("taken", "shape", "x", "inside", "right", "beyond", "clamped"),
    [
        (twice, [-1], rows(3), [5, -6], [3, 1], [0, 6], [1, 3]),
        (turned, [-1, 2], rows(6).reshape(2, 3), [[2, 1], [-3, 0]], [6, 1], [[0, 1], [3, 1]], [4, 6]),
        (turned, [-1, -1], rows(6).reshape(2, 3), [[2, 1], [-3, 0]], [6, 1], [[0, 1], [3, 1]], [4, 6]),
    ],
)
def test_the_axis_is_that_of_data_which_an_input_became(policy, portable, taken, shape, x, inside, right, beyond, clamped):
    """Neither is as long as an axis of the input."""
    given = parameter("x", [-1] * x.ndim, np.float32), parameter("i", shape)
    model = ov.Model([taken(*given)], [*given], "model")
    guards(model, policy, portable)
    model.reshape({1: np.shape(inside)})
    assert outputs(model, x, np.int32(inside)) == [right]
    zeroed = RAISED if shape == [-1, -1] else [[clamped[0], 0]]  # as above
    assert outputs(model, x, np.int32(beyond)) == {"raise": RAISED, "clamp": [clamped], "zero": zeroed}[policy]


@pytest.mark.parametrize("kinds", [(np.int32, np.int64), (np.int64, np.int32)])
def test_indices_of_several_types_share_a_check_of_the_size(kinds):
    x = parameter("x", [-1], np.float32)
    given = [parameter(name, [2], kind) for name, kind in zip("ij", kinds, strict=True)]
    model = ov.Model([opset13.gather_elements(x, one, 0) for one in given], [x, *given], "model")
    assert guards(model, "raise", True) == 1
    indices = [np.array([0, 2], kind) for kind in kinds]
    assert outputs(model, rows(3), *indices) == [[1, 3], [1, 3]]
    assert outputs(model, rows(2), *indices) == RAISED
    assert outputs(model, rows(0), *indices) == RAISED
