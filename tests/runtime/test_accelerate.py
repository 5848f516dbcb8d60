"""`accelerate`, pass by pass: when a pass fires, when it must not, and that outputs stay the same, bit by bit."""

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openvino import opset13 as ops

from helpers.accelerating import (
    DATA,
    ROWS,
    accelerated,
    check_accelerated,
    check_raises,
    check_same,
    check_stays,
    expanded,
    model_of,
    operations,
    outputs_of,
    parameter,
    transpose,
)
from helpers.inside_openvino import WHOLE_BYTES, random_values
from ov_gather.acceleration import costs
from ov_gather.acceleration.accelerate import PASSES
from ov_gather.acceleration.graph import ours, walk
from ov_gather.acceleration.symbols import symbols
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

TYPES = ("f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "boolean")
WAYS = ["bidirectional", "numpy", "explicit", "opset1", "tile", "tile of broadcast", "convert", "concat", "stack"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
def test_what_repeats_an_index_is_folded(way):
    model = model_of(ops.gather_elements(parameter("data", [7, 5, 6]), expanded(way), 0))
    arrays = [DATA, ROWS.ravel() if way in ("explicit", "stack") else ROWS]
    done = ["ov_gather.GatherElements by [9,1,1]"]
    other, _ = check_accelerated(model, arrays, passes=["fold-broadcasts"], done=done)
    assert not {*operations(other)} & {"Broadcast-1", "Broadcast-3", "Tile-1", "Concat-1", "GatherElements-6"}
    assert np.array_equal(outputs_of(other, arrays)[0], DATA[ROWS.ravel()])


@pytest.mark.parametrize(
    ("data", "rows", "folded"),
    [([7, 5, 6], 1, True), ([8, 5, 7], 1, False), ([8, 7, 6], 5, False), ([-1, -1, -1], 1, False)],
)
def test_ours_is_folded_where_it_would_not_gather_less(data, rows, folded):
    index = ops.broadcast(parameter("i", [9, rows, 1], np.int64), [9, 5, 6])
    attributes = {"axis": 0, "broadcast": False}
    model = model_of(ours("GatherElements", [parameter("data", data).output(0), index.output(0)], attributes))
    values = np.random.default_rng(0).random([8 if size < 0 else size for size in data], np.float32)
    found = [*([] if folded else ["Broadcast-3"]), "ov_gather.GatherElements"]
    check_accelerated(model, [values, np.tile(ROWS, (1, rows, 1))], operators=found)


def test_an_index_that_others_read_stays_for_them():
    index = expanded("numpy")
    model = model_of(ops.gather_elements(parameter("data", [7, 5, 6]), index, 0), ops.relu(index))
    found = ["Broadcast-3", "Relu-1", "ov_gather.GatherElements"]
    check_accelerated(model, [DATA, ROWS], passes=["fold-broadcasts"], operators=found)


def of_elements(index, data=(7, 5, 6), axis=0, kind=np.float32):
    return model_of(ops.gather_elements(parameter("data", data, kind), index, axis))


def index_of(*shape, name="i"):
    return parameter(name, shape, np.int64)


def draws():
    """Equal nodes, but random values are not equal."""
    return [ops.random_uniform(ops.constant([9, 1]), ops.constant(0), ops.constant(7), "i64") for _ in range(2)]


def repeated_constant(*shape, changed=False):
    elements = np.broadcast_to(np.random.default_rng(0).integers(-6, 6, shape), (7, 5, 4)).copy()
    elements[6, 4, 3] += changed
    return ops.constant(elements)


FOLD, SHRINK, PORTABLE = {"passes": ["fold-broadcasts"]}, {"passes": ["shrink-constants"]}, {"portable": True}
STAYS = {
    "no repetition": (of_elements(index_of(9, 5, 6)), FOLD, ""),
    "tiles of three": (of_elements(ops.tile(index_of(3, 5, 6), [3, 1, 1])), FOLD, ""),
    "along the axis": (of_elements(ops.tile(index_of(1, 5, 6), [9, 1, 1])), FOLD, "repeated along the axis"),
    "different inputs": (of_elements(ops.concat([index_of(9, 1, 6, name=f"i{n}") for n in range(5)], 1)), FOLD, ""),
    "random values": (of_elements(ops.concat(draws(), 1), (7, 2)), FOLD, ""),
    "a constant that does not repeat": (of_elements(repeated_constant(1, 5, 4, changed=True), axis=2), SHRINK, ""),
    "a constant along the axis": (of_elements(repeated_constant(7, 5, 1), axis=2), SHRINK, ""),
    "no whole slices": (
        of_elements(ops.tile(ops.clamp(index_of(1, 5, 9), 0, 5), [7, 1, 1]), axis=2),
        PORTABLE,
        "the index is not the same for whole slices",
    ),
    "u4": (of_elements(index_of(9, 8), (7, 8), kind=ov.Type.u4), {}, "ours takes no u4"),
    "i4": (of_elements(index_of(9, 8), (7, 8), kind=ov.Type.i4), {}, "ours takes no i4"),
    "u1": (of_elements(index_of(9, 8), (7, 8), kind=ov.Type.u1), {}, "ours takes no u1"),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name):
    model, options, reason = STAYS[name]
    summary = check_stays(model, *options.get("passes", ()), reason=reason, portable=options.get("portable", False))
    assert not summary.changed


@pytest.mark.parametrize("portable", [True, False])
def test_a_constant_that_repeats_is_shrunk(portable):
    elements = np.broadcast_to(np.random.default_rng(0).integers(-6, 6, (1, 5, 4)), (7, 5, 4)).copy()
    data = parameter("data", [7, 5, 6])
    index = ops.constant(elements, name="index")
    model = model_of(*(ops.gather_elements(ops.add(data, ops.constant(np.float32(i))), index, 2) for i in range(2)))
    other, summary = accelerated(model, *(["shrink-constants"] if portable else PASSES), portable=portable)
    assert all("constant of [1,5,4] and Broadcast" in change.done for change in summary.changes)
    sizes = [node.get_data().size for _, node in walk(other) if node.get_friendly_name() == "index"]
    assert sizes == [20]  # both gathers share one constant
    assert ("Broadcast-3" in operations(other)) == portable
    check_same(model, other, [DATA])


SLICES = [
    ([7, 5, 6], [9, 1, 1], 0, [9, 5, 6], [9]),
    ([7, 5, 6], [7, 9, 1], 1, [7, 9, 6], [7, 9]),
    ([7, 5, 6], [7, 1, 9], 2, [7, 5, 9], [7, 9]),
    ([1, 5, 6], [1, 9, 1], 1, [1, 9, 6], [9]),
    ([7, 5, 6], [7, 5, 3], -1, [7, 5, 3], [7, 5, 3]),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("data", "index", "axis", "whole", "slices"), SLICES)
def test_whole_slices_become_gather_8(data, index, axis, whole, slices):
    clamped = ops.clamp(parameter("i", index, np.int64), -data[axis], data[axis] - 1)
    model = model_of(ops.gather_elements(parameter("data", data), ops.broadcast(clamped, whole), axis))
    arrays = [DATA[: data[0]], np.random.default_rng(0).integers(-20, 20, index)]
    for portable in (True, False):
        check_accelerated(model, arrays, portable=portable, done=[f"Gather-8 by {ov.PartialShape(slices)}"])


def test_gather_8_only_where_the_index_is_in_bounds():
    index, shape = parameter("i", [9, 1], np.int64), [9, 5]
    model = model_of(ops.gather_elements(parameter("data", [7, 5]), ops.broadcast(ops.clamp(index, 0, 7), shape), 0))
    other, summary = accelerated(model, portable=True)
    assert "GatherElements-6" in operations(other)
    assert summary.changes[0].reason == "whether the index is in -7..6 is not known before it runs"
    assert "ov_gather.GatherElements" in operations(accelerated(model)[0])
    arrays = [np.random.default_rng(0).random((7, 5), np.float32), np.arange(9).reshape(9, 1) % 7]
    other, _ = check_accelerated(model, arrays, portable=True, assume_in_bounds=True)
    assert "Gather-8" in operations(other)


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("elements", [[[0], [1]], [[1], [0]], [[0, 1], [1, 0]]], ids=str)
def test_constant_indices_that_count_over_batches(elements, portable):
    """OpenVINO removes such a Gather, as if each batch took all rows. The random models found that."""
    index = ops.convert(ops.constant(np.array(elements, np.int32)), "i64")
    model = model_of(ops.relu(ops.gather_elements(parameter("data", [2, 2]), index, 1)))
    check_accelerated(model, [np.random.default_rng(0).random((2, 2), np.float32)], portable=portable)


def messages(data, axis, concat_axis, *, clamp=True, other=None, read=False, ends=2):
    """A model that gathers rows of data by each of `ends` indices, side by side."""
    whole = list(data)
    whole[axis] = 9
    own = [size if i <= axis else 1 for i, size in enumerate(whole)]
    table = parameter("data", data)
    gathers = []
    for end in range(ends):
        index = parameter(f"i{end}", own, np.int64)
        index = ops.clamp(index, 0, data[axis] - 1) if clamp else index
        from_where = other(table) if other and end else table
        gathers.append(ops.gather_elements(from_where, ops.broadcast(index, whole), axis))
    joined = ops.concat(gathers, concat_axis)
    joined.set_friendly_name("messages")
    return model_of(joined, *([ops.relu(gathers[0])] if read else []))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("ends", [2, 3])
@pytest.mark.parametrize("clamp", [True, False])
@pytest.mark.parametrize(("data", "axis"), [([7, 6], 0), ([7, 6, 4], 0), ([3, 7, 6], 1), ([3, 7, 6, 2], 1)])
def test_slices_side_by_side_become_one_gather(data, axis, clamp, ends, rng):
    model = messages(data, axis, axis + 1, clamp=clamp, ends=ends)
    other, summary = accelerated(model, "join-gathers")
    name = "Gather-8" if clamp else "ov_gather.Gather"
    assert [change.done for change in summary.changes] == [[f"one {name} for {ends}"]] * ends
    assert operations(other).count(name) == 1
    assert model.output(0).get_node().input_value(0).get_node().get_friendly_name() == "messages"
    indices = [rng.integers(-data[axis], data[axis], [*data[:axis], 9, *[1] * (len(data) - axis - 1)]) for _ in range(ends)]
    check_same(model, other, [rng.random(data, np.float32), *indices])
    assert accelerated(model, "join-gathers", portable=True)[1].changes[0].done == (
        [f"one Gather-8 for {ends}"] if clamp else []
    )


def test_slices_side_by_side_by_indices_of_two_types(rng):
    """`accelerate` once raised a RuntimeError here, which the random models found."""
    data, whole = parameter("data", [7, 6]), [9, 6]
    ends = [ops.broadcast(parameter(f"i{kind.__name__}", [9, 1], kind), whole) for kind in (np.int32, np.int64)]
    model = model_of(ops.concat([ops.gather_elements(data, end, 0) for end in ends], 1))
    indices = [rng.integers(-7, 7, (9, 1)).astype(kind) for kind in (np.int32, np.int64)]
    _, summary = check_accelerated(model, [rng.random((7, 6), np.float32), *indices])
    assert [change.done for change in summary.changes] == [["one ov_gather.Gather for 2"]] * 2


@pytest.mark.parametrize(
    "options",
    [{"concat_axis": 0}, {"concat_axis": 2}, {"other": ops.relu}, {"read": True}, {"ends": 1}],
    ids=["along the axis", "further in", "other data", "read by others", "one alone"],
)
def test_what_is_not_joined(options):
    model = messages([7, 6, 4], 0, **{"concat_axis": 1, **options})
    check_stays(model, "join-gathers")


@pytest.mark.parametrize("way", ["numpy", "tile"])
def test_an_index_out_of_bounds_is_an_error_as_before(way):
    model = model_of(ops.gather_elements(parameter("data", [7, 5, 6]), expanded(way), 0))
    for bad in (7, -8):
        wrong = ROWS.copy()
        wrong[4] = bad
        message = r"indices\[4.*\] = .* is out of bounds|indices values of GatherElement exceed"
        check_raises([DATA, wrong], model, accelerated(model)[0], match=message)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("hint", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("row", [row for row in WHOLE_BYTES if row.name in TYPES], ids=str)
def test_every_type_and_precision(row, hint, rng):
    element_type = getattr(ov.Type, row.name)
    data, plain = parameter("a", [7, 5], element_type), parameter("b", [4, 5], np.int64)
    repeated = ops.broadcast(parameter("c", [9, 1], np.int64), [9, 5])
    model = model_of(ops.gather_elements(data, plain, 0), ops.gather_elements(data, repeated, 0))
    other, _ = accelerated(model)
    assert operations(other) == ["ov_gather.GatherElements"] * 2
    values = random_values(row, (7, 5))
    carried = ov.Tensor(values.view(f"u{values.itemsize}"), [7, 5], element_type)
    tensors = [carried, *(ov.Tensor(rng.integers(-7, 7, size)) for size in ((4, 5), (9, 1)))]
    results = [outputs_of(tried, tensors, hint) for tried in (model, other)]
    for one, other in zip(*results, strict=True):
        assert one.tobytes() == other.tobytes()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_pattern_of_repetition(data):
    """Data has any rank; an index has size 1 or data's size in each dimension, and is a Parameter or a constant."""
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = data.draw(st.integers(0, len(shape) - 1))
    whole = [*shape[:axis], data.draw(st.integers(1, 5)), *shape[axis + 1 :]]
    own = [size if i == axis or data.draw(st.booleans()) else 1 for i, size in enumerate(whole)]
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    indices = rng.integers(-shape[axis], shape[axis], own)
    if data.draw(st.booleans()):
        index, arrays = ops.constant(np.broadcast_to(indices, whole).copy()), []
    else:
        index, arrays = ops.broadcast(parameter("i", own, np.int64), whole), [indices]
    gather = ops.gather_elements(parameter("data", shape), index, axis)
    turn = len(shape) > 1 and data.draw(st.booleans())
    model = model_of(transpose(gather) if turn else gather)
    portable = data.draw(st.booleans())
    passes = data.draw(st.sets(st.sampled_from(sorted(name for name, each in PASSES.items() if each.portable or not portable))))
    costs.SMALL = 0  # a fixture would be shared by all examples
    other, _ = accelerated(model, *passes, portable=portable)
    values = rng.random(shape, np.float32)
    (found,) = outputs_of(other, [values, *arrays])
    expected = np.take_along_axis(values, np.broadcast_to(indices, whole), axis)
    assert np.array_equal(found, np.swapaxes(expected, -1, -2) if turn else expected)


def test_strings():
    data, index = parameter("data", [7, 2], ov.Type.string), parameter("i", [9, 1], np.int64)
    model = model_of(ops.gather_elements(data, ops.broadcast(index, [9, 2]), 0))
    other, _ = accelerated(model)
    words = np.array([[f"{i}{j}" for j in range(2)] for i in range(7)])
    places = np.arange(9).reshape(9, 1) % 7
    assert Session(ov.Core(), other)([words, places])[0].tolist() == words[places.ravel()].tolist()


@pytest.mark.parametrize("element_type", ["f16", "f32"])
def test_what_is_constant_stays(element_type, rng):
    """OpenVINO folds it as soon as it can, and sooner in f16, what it can only later in f32: ours or Gather-8 it can sooner."""
    logits = ops.log_softmax(ops.constant((10 * rng.standard_normal((135, 6))).astype(np.float16)), 1)
    logits = logits if element_type == "f16" else ops.convert(logits, "f32")
    fixed, given = ops.constant(rng.integers(0, 3, (135, 1))), parameter("i", [135, 1], np.int64)
    gathers = [ops.gather_elements(logits, index, 1) for index in (fixed, given)]
    gathers[0].set_friendly_name("fixed")
    model = model_of(*(ops.convert(gather, "f32") for gather in gathers))
    for passes in (["to-gather"], ["replace-elements"], ["gather-logits"], list(PASSES)):
        other, summary = accelerated(model, *passes)
        (change,) = (change for change in summary.changes if change.layer == "fixed")
        assert change.done == []
        check_same(model, other, [rng.integers(0, 3, (135, 1))])
    assert change.reason == "OpenVINO computes it when it compiles"


@pytest.mark.parametrize("options", [{}, {"portable": True}, {"portable": True, "assume_in_bounds": True}])
def test_a_constant_without_elements(options):
    """OpenVINO's process ends where it compiles a Gather-8 without indices."""
    model = model_of(ops.gather_elements(parameter("data", [200, 8]), ops.constant(np.zeros((200, 0), np.int64)), 1))
    check_accelerated(model, [np.zeros((200, 8), np.float32)], **options)


def test_the_output_of_gather_elements_has_the_sizes_of_indices():
    """Off the axis, the sizes of data are known, too."""
    node = ops.gather_elements(parameter("x", [5, 6]), parameter("i", [-1, -1], np.int64), 1)
    with symbols(model_of(node)):
        rows, columns = node.get_output_partial_shape(0)
        assert rows == ov.Dimension(5)
        assert columns.is_dynamic
        assert columns.get_symbol() == node.input_value(1).get_partial_shape()[1].get_symbol()
