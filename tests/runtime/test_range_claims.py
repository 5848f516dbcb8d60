"""What the CPU plugin computes lies within what the analysis of ranges claims: cases that random models have found."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset1
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.index_sites import tensor
from helpers.openvino_models import looked_up, loop_of, made_of, number, size_of
from helpers.range_analysis import Symbols, by_ir, complaints
from ov_gather import prove
from ov_gather.runtimes.session import Session

LARGE = np.int32([2**31 - 1, 1735591539, 344636966, 436801453, 751720133, 2**31 - 2, -(2**31), 2**24 + 1])
I32, F32 = np.int32, np.float32


def nothing_like(x):
    wanted = ops.concat([ops.shape_of(x), [0]], 0)
    return ops.broadcast(np.zeros((1, 0), np.int64), wanted, broadcast_spec="bidirectional")


def sizes_of_nothing(x):
    """OpenVINO makes 0 of the first dimension, too."""
    return ops.shape_of(ops.unsqueeze(nothing_like(x), number(-1)), "i32")


def sizes_of_nothing_twice(x):
    """OpenVINO makes 0 of the first dimension where the tensor is used, and keeps it in the tensor."""
    nothing = nothing_like(x)
    after = ops.shape_of(ops.unsqueeze(nothing, number(-1)))
    return ops.subtract(ops.shape_of(nothing), ops.slice(after, number([0]), number([2]), number([1])))


def split_of_too_few(x):
    """What remains beside the parts of the given lengths is -1, and a part goes beyond the end."""
    return ops.add(ops.variadic_split(ops.clamp(x, 3, 7), number(1), [2, -1]).output(0), number(0, I32))


def extreme_of_large_numbers(work, large):
    """The plugin compares integers as float32, and 2^31, which that makes of the greatest, wraps around."""
    return lambda x: work(ops.gather(number([large, large], I32), ops.clamp(x, 0, 1), number(0)), number(0), True)


def one_below_and_one_above(x):
    return ops.concat([ops.clamp(x, 0, 1), ops.clamp(x, 5, 6)], 0)


def one_of_two_from_the_start(x):
    """The mask of beginnings says to take the first one, whatever the beginning is."""
    return ops.strided_slice(one_below_and_one_above(x), [1], [2], [1], [1], [0], [0], [1])


def range_to_before_its_start(start, step):
    """The plugin counts as many numbers as there would be in the other direction."""
    return lambda x: ops.range(number(start, I32), size_of(x, kind="i32"), number(step, I32), "i32")


def sizes_after_reshape(x, first, *, special_zero):
    """The shape of x with another first dimension, and one that OpenVINO computes."""
    wanted = ops.concat([ops.unsqueeze(first, number(0)), number([-1])], 0)
    return ops.add(ops.shape_of(ops.reshape(x, wanted, special_zero)), number([0]))


def difference_of_large_constants(kind):
    """OpenVINO folds it in 64 bits, before it makes 32 of them: 7."""
    large = number([2**31 + 5], kind), number([2**31 - 2], kind)
    return lambda x: ops.add(ops.convert(ops.subtract(*large), "i32"), ops.clamp(x, 0, 0))


NOTHING = np.zeros(0, F32)
CASES = {
    "padding by a computed value, which becomes 0": (
        {"x": "i32[]"},
        lambda x: ops.pad(number([5, 5], I32), [1], [0], "constant", ops.clamp(x, 5, 6)),
        [I32(5)],
    ),
    "a difference of large constants": ({"x": "i32[1]"}, difference_of_large_constants(np.int64), [np.zeros(1, I32)]),
    "a difference of large constants without a sign": (
        {"x": "i32[1]"},
        difference_of_large_constants(np.uint32),
        [np.zeros(1, I32)],
    ),
    "positions of fractions, whose conversion to 0 is dropped": (
        {"x": "f32[2]"},
        lambda x: ops.non_zero(ops.convert(ops.concat([ops.clamp(x, 0, 0.5), ops.clamp(x, 1, 3)], 0), "i32"), "i64"),
        [np.full(2, 0.3, F32)],
    ),
    "a remainder of large numbers": ({"x": "i32[8]"}, lambda x: ops.mod(x, number(3, I32)), [LARGE]),
    "a remainder of large fractions": (
        {"x": "f32[8]"},
        lambda x: ops.floor_mod(ops.clamp(x, -1e9, 1e9), number(7, F32)),
        [F32([*LARGE[:7], -999999999])],
    ),
    "a clamp of NaN": (
        {"x": "f32[2,3]"},
        lambda x: ops.clamp(ops.softmax(x, 0), -3.0, 2.0),
        [F32([[np.inf, 1, 0], [0, 0, 0]])],
    ),
    "a minimum of NaN": (
        {"x": "f32[2,3]"},
        lambda x: ops.minimum(ops.softmax(x, 0), number(7, F32)),
        [F32([[np.inf, 1, 0], [0, 0, 0]])],
    ),
    "a sum of any integer and a size": (
        {"x": "i32[3]", "y": "f32[?]"},
        lambda x, y: ops.add(x, size_of(y, kind="i32")),
        [I32([2**31 - 1, 0, 1]), np.zeros(3, F32)],
    ),
    "the place of the only element of a constant": (
        {"x": "i32[1]"},
        lambda x: ops.multiply(ops.non_zero(np.ones((1, 1, 1), F32), "i32"), number([[1], [1], [1]], I32)),
        [I32([0])],
    ),
    "a number that wraps around": ({"x": "i32[]"}, lambda x: ops.add(ops.relu(x), number(5, I32)), [np.array(2**31 - 1, I32)]),
    "a number in a narrower type": ({"x": "u8[]"}, lambda x: ops.convert(x, "i8"), [np.array(255, np.uint8)]),
    "a loop that does not run": (
        {"x": "i32[2]", "trips": "i64[]"},
        lambda x, trips: loop_of(x, trips, lambda state: ops.clamp(state, 0, 4)),
        [I32([-4, 9]), np.array(0)],
    ),
    "a frame of a large number": (
        {"x": "i32[2,2,3]"},
        lambda x: ops.pad(ops.clamp(x, 0, 6), [1, 0, 0], [1, 0, 0], "constant", number(2**31 - 1, I32)),
        [np.ones((2, 2, 3), I32)],
    ),
    "an input of 64 bits": ({"x": "i64[2]"}, lambda x: ops.convert(x, "f32"), [np.array([2**32 + 1, -(2**40)])]),
    "a size of 0 that copies that of data": (
        {"x": "f32[4,?]", "y": "f32[?]"},
        lambda x, y: sizes_after_reshape(x, size_of(y), special_zero=True),
        [np.zeros((4, 6), F32), NOTHING],
    ),
    "what remains beside a size of 0": (
        {"x": "f32[?,?]"},
        lambda x: sizes_after_reshape(x, size_of(x, 1), special_zero=False),
        [np.zeros((5, 0), F32)],
    ),
    "a random number below an empty size": (
        {"x": "f32[?]"},
        lambda x: ops.random_uniform([3], number(0, I32), size_of(x, kind="i32"), "i32", 3, 5),
        [NOTHING],
    ),
    # The plugin rounds the fraction up where it is negative.
    "a clamp of integers by a fraction": (
        {"x": "i64[3]"},
        lambda x: ops.clamp(ops.minimum(x, number(-7)), -2.5, 3.0),
        [np.int64([-9, 0, 9])],
    ),
    "a mean of numbers that are scattered": (
        {"x": "i32[4]"},
        lambda x: ops.scatter_elements_update(ops.clamp(x, 0, 3), I32([0]), I32([2**31 - 1]), number(0), "mean"),
        [I32([3, 1, 2, 3])],
    ),
    "a mean of large numbers": (
        {"x": "i32[8]"},
        lambda x: ops.reduce_mean(ops.maximum(x, number(2**31 - 9, I32)), number(0)),
        [np.zeros(8, I32)],
    ),
    "a range that ends before its start": ({"x": "f32[0..4]"}, range_to_before_its_start(5, 1), [NOTHING]),
    "a range that ends before its start, in steps": ({"x": "f32[0..4]"}, range_to_before_its_start(1, 3), [NOTHING]),
    "a range downwards to above its start": ({"x": "f32[0..4]"}, range_to_before_its_start(0, -1), [np.zeros(4, F32)]),
    "halves that are rounded up": (
        {"x": "f32[4]"},
        lambda x: ops.round(ops.clamp(x, -2.5, 2.5), "half_away_from_zero"),
        [F32([-9, -2.5, 2.5, 9])],
    ),
    "sizes of a tensor without elements": ({"x": "i32[?]"}, sizes_of_nothing, [np.zeros(4, I32)]),
    "sizes of a tensor without elements, twice": ({"x": "i32[?]"}, sizes_of_nothing_twice, [np.zeros(4, I32)]),
    "elements of nothing that is transposed": (
        {"x": "i32[1,0,2]"},
        lambda x: ops.transpose(ops.clamp(x, 0, 3), number([1, 2, 0])),
        [np.zeros((1, 0, 2), I32)],
    ),
    "a split of too few": ({"x": "i32[1,?]"}, split_of_too_few, [I32([[7]])]),
    "the greatest of large numbers": (
        {"x": "i32[3]"},
        extreme_of_large_numbers(ops.reduce_max, 2**31 - 1),
        [np.zeros(3, I32)],
    ),
    "the least of large numbers": ({"x": "i32[3]"}, extreme_of_large_numbers(ops.reduce_min, 2**24 + 1), [np.zeros(3, I32)]),
    "the first of two": ({"x": "i32[1]"}, one_of_two_from_the_start, [np.zeros(1, I32)]),
    "rows of one number each": (
        {"x": "i32[1]"},
        lambda x: ops.add(opset1.broadcast(one_below_and_one_above(x), [2, 2], [0], "EXPLICIT"), number(0, I32)),
        [np.zeros(1, I32)],
    ),
    **{
        f"arithmetic after a reduction of 3-D integers: {work.__name__}": (
            {"x": "i32[4,2,3]"},
            lambda x, work=work: work(ops.reduce_sum(ops.clamp(x, 0, 2), number([1]), True), number(3, I32)),
            [np.arange(24, dtype=I32).reshape(4, 2, 3) % 3],
        )
        for work in (ops.add, ops.subtract)
    },
    "a negative sum of 3-D integers": (
        {"x": "i32[4,2,3]"},
        lambda x: ops.negative(ops.reduce_max(ops.clamp(x, 1, 2), number([2]))),
        [np.ones((4, 2, 3), I32)],
    ),
    **{
        f"arithmetic after a reduction of {kind}": (
            {"x": f"{kind}[4,2]"},
            lambda x, dtype=dtype: ops.subtract(number(20, dtype), ops.reduce_max(ops.clamp(x, 1, 2), number([1]))),
            [np.ones((4, 2), dtype)],
        )
        for kind, dtype in (("u8", np.uint8), ("u16", np.uint16))
    },
    **{
        f"{work.__name__} of negative {kind}": ({"x": f"{kind}[4]"}, work, [np.array([-100, -4, 0, 9], dtype)])
        for work in (ops.sqrt, ops.log)
        for kind, dtype in (("i8", np.int8), ("i64", np.int64))
    },
    **{
        f"{name} of rows out of bounds": (
            {"x": "i32[2,1]", "i": "i64[3]"},
            lambda x, i, work=work: work(ops.gather(ops.clamp(x, 5, 6), i, number(0))),
            [np.full((2, 1), 5, I32), np.array([0, 7, 1])],
        )
        for name, work in {
            "a clamp": lambda rows: ops.clamp(rows, 3, 9),
            "a sum": lambda rows: ops.add(number(30, I32), rows),
            "a clamp after a sum": lambda rows: ops.clamp(ops.add(rows, number(1, I32)), 3, 9),
            "a clamp after moves": lambda rows: ops.clamp(
                ops.transpose(ops.unsqueeze(rows, number(0)), number([2, 1, 0])), 3, 9
            ),
            "a clamp after a conversion": lambda rows: ops.clamp(ops.convert(rows, "i64"), 3, 9),
            "a clamp after a broadcast": lambda rows: ops.clamp(ops.broadcast(rows, number([4, 3, 1])), 3, 9),
            "a clamp after a roll": lambda rows: ops.clamp(ops.roll(rows, number([0]), number([0])), 3, 9),
            "a clamp after a tile that changes nothing": lambda rows: ops.clamp(ops.tile(rows, number([1, 1])), 3, 9),
            "a clamp after a pad that changes nothing": lambda rows: ops.clamp(
                ops.pad(rows, number([0, 0]), number([0, 0]), "edge"), 3, 9
            ),
            "a clamp after a concat of one": lambda rows: ops.clamp(ops.concat([rows], 0), 3, 9),
            "a clamp after a concat with no elements": lambda rows: ops.clamp(
                ops.concat([rows, number([[]] * 3, I32)], 1), 3, 9
            ),
            "a clamp after a sum of indices": lambda rows: ops.clamp(ops.einsum([rows], "ab->ba"), 3, 9),
            "a clamp after no updates": lambda rows: ops.clamp(
                ops.scatter_update(rows, number([]), number([[]] * 3, I32), number(1)), 3, 9
            ),
            "a clamp after a choice": lambda rows: ops.clamp(ops.select(number(1, bool), rows, rows), 3, 9),
            "a clamp after a reshape": lambda rows: ops.clamp(ops.reshape(rows, number([-1]), False), 3, 9),
        }.items()
    },
    "a clamp after an operation without a rule, of rows out of bounds": (
        {"x": "f32[2,1]", "i": "i64[3]"},
        lambda x, i: ops.clamp(ops.elu(ops.gather(ops.clamp(x, 5, 6), i, number(0)), 1.0), 3, 9),
        [np.full((2, 1), 5, F32), np.array([0, 7, 1])],
    ),
    "a conversion to boolean of another output than the first": (
        {"x": "i64[1..9]"},
        lambda x: ops.convert(ops.unique(x).output(2), "boolean"),
        [np.array([3, 1, 1, 2])],
    ),
    **{
        f"a conversion to boolean of another output, {name}": (
            {"x": "i32[2,3]"},
            lambda x, change=change: ops.convert(
                change(ops.split(ops.concat([ops.clamp(x, 5, 6), ops.clamp(x, 0, 0)], 0), number(0), 2).output(1)), "boolean"
            ),
            [np.ones((2, 3), I32)],
        )
        for name, change in {
            "turned": lambda part: ops.transpose(part, number([1, 0])),
            "times one": lambda part: ops.multiply(part, number(1, I32)),
            "in two views": lambda part: ops.squeeze(ops.unsqueeze(part, number(0)), number(0)),
            "chosen by a constant": lambda part: ops.select(number(1, bool), part, part),
            "of two signs": lambda part: ops.negative(ops.negative(part)),
            "without updates": lambda part: ops.scatter_update(part, number([]), number(np.zeros((0, 3)), I32), number(0)),
            "of each row": lambda part: ops.gather(part, number([0]), number(0)),
        }.items()
    },
    "a range of fractions": (
        {"x": "f32[0..4]"},
        lambda x: ops.range(number(0, F32), ops.convert(size_of(x), "f32"), number(0.5, F32), "f32"),
        [np.zeros(4, F32)],
    ),
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", CASES)
def test_no_value_is_outside(name):
    found, complaints_of_it = executed(*CASES[name])
    assert found.size
    assert complaints_of_it == []


@pytest.mark.parametrize(
    ("declared", "shape", "order"),
    [
        ("?,?,1", (0, 0, 1), [2, 0, 1]),
        ("1,?,?", (1, 0, 0), [1, 2, 0]),
        ("1,?,0", (1, 3, 0), [1, 2, 0]),
        ("?,?,1,3", (0, 0, 1, 3), [2, 0, 1, 3]),
        ("?,0,1", (2, 0, 1), [2, 0, 1]),
        ("1,0", (1, 0), [1, 0]),
    ],
)
def test_no_size_of_nothing_that_is_transposed_is_outside(declared, shape, order):
    """Some of them are other ones than those of the operand in their order."""

    def make(x):
        return ops.transpose(ops.clamp(x, 0, 3), number(order))

    found, complaints_of_it = executed({"x": f"i32[{declared}]"}, make, [np.zeros(shape, I32)])
    assert found.shape != np.zeros(shape).transpose(order).shape
    assert complaints_of_it == []


def executed(inputs, make, arrays):
    """The output of a model, and the complaints about what is claimed of it."""
    model, names = made_of(make, **inputs), Symbols()
    claims, _ = by_ir(model)
    for node, array in zip(model.get_parameters(), arrays, strict=True):
        names.set_bounds(claims[tensor(node.output(0))], array)
    (found,) = Session(ov.Core(), model)(arrays)
    claim = claims[tensor(model.outputs[0].get_node().input_value(0))]
    return found, list(complaints(claim, found, names))


def last_proof(make, **inputs):
    return prove(made_of(make, **inputs))[-1]


@pytest.mark.parametrize(
    ("shape", "requires"),
    [
        ("?,?,1", {"dim(x, 0)": (1, None), "dim(x, 1)": (1, None)}),
        ("1..9,1..9,1", {}),
        ("?,3,1", {}),
        ("?,1,?", {}),
    ],
)
def test_sizes_of_a_transpose_are_known_unless_it_may_be_empty(shape, requires):
    """The last size of a Transpose, which is dim(x, 1), as an index of an axis that is longer by one."""

    def make(x):
        last = ops.gather(ops.shape_of(ops.transpose(x, number([2, 0, 1]))), number(2), number(0))
        data = ops.broadcast(number(0), ops.unsqueeze(ops.add(size_of(x, 1), number(1)), number(0)))
        return ops.gather(data, last, number(0))

    proof = last_proof(make, x=f"i32[{shape}]")
    assert (proof.status, dict(proof.requires)) == ("conditional" if requires else "proved", requires)


@pytest.mark.parametrize(
    ("is_safe", "is_next", "status"),
    [(True, True, "proved"), (False, True, "conditional"), (False, False, "proved")],
)
def test_arithmetic_is_moved_above_a_gather(is_safe, is_next, status):
    """The plugin clamps the data, and does not clamp what it reads out of bounds. A Concat stops it."""

    def make(x, i):
        rows = ops.gather(x, ops.clamp(i, 0, 3) if is_safe else i, number(0))
        found = ops.clamp(rows if is_next else ops.concat([rows, rows], 0), 3, 9)
        return looked_up(16, ops.subtract(found, number(19)))

    assert last_proof(make, x="i64[4,2]", i="i64[3]").status == status


def test_no_integer_below_zero_has_a_root():
    """The plugin makes -2^31 of it."""
    proof = last_proof(lambda x: looked_up(20, ops.sqrt(x)), x="i64[3]")
    assert dict(proof.requires) == {"x": (0, 361)}


def test_a_place_among_no_elements_is_not_known():
    """The plugin leaves the places as they were in memory."""
    inputs = {"x": "f32[3]", "rows": "f32[?]"}
    proof = last_proof(lambda x, rows: looked_up(3, ops.clamp(ops.relu(ops.bucketize(x, rows, "i32")), 0, 2)), **inputs)
    assert proof.status == "proved"
    proof = last_proof(
        lambda x, rows: ops.gather(rows, ops.floor_mod(ops.bucketize(x, rows, "i32"), number(1, I32)), number(0)), **inputs
    )
    assert dict(proof.requires) == {"dim(rows, 0)": (1, None)}


@pytest.mark.parametrize(("kind", "requires"), [("i32", (-4, None)), ("i64", (-4, 2**31 - 1))])
def test_an_input_of_more_bits_than_the_plugin_keeps_has_both_bounds(kind, requires):
    """The plugin makes -2^31 of an input of 2^31."""
    proof = last_proof(lambda x: looked_up(4, ops.minimum(ops.convert(x, "i32"), number(3, I32))), x=f"{kind}[3]")
    assert dict(proof.requires) == {"x": requires}


def test_conditions_name_inputs_only():
    """Nobody can keep an index below the number of elements that are not zero."""
    proof = last_proof(
        lambda x, i: ops.gather(ops.transpose(ops.non_zero(x, "i32"), [1, 0]), i, number(0)), x="f32[?,4]", i="i32[3]"
    )
    assert (proof.status, dict(proof.requires)) == ("unknown", {})


def test_each_coordinate_has_its_bound():
    proof = last_proof(lambda x, i: ops.gather_nd(x, i), x="f32[?,7,1]", i="i32[4,3]")
    assert dict(proof.requires) == {"i": ("max(-dim(x, 0), -1)", "min(dim(x, 0) - 1, 0)")}


def test_an_axis_that_is_squeezed_has_an_element():
    """OpenVINO makes one element of an axis of none, which is whatever lies in memory."""
    proof = last_proof(lambda x: looked_up(4, ops.squeeze(ops.clamp(x, 0, 3), number(0))), x="i32[?]")
    assert dict(proof.requires) == {"dim(x, 0)": (1, None)}


@pytest.mark.parametrize(
    ("x", "new_axis", "status", "requires"),
    [
        # OpenVINO takes an axis of no elements for one of one element, which is whatever lies in memory.
        ("i32[?,4]", [0, 0], "conditional", {"dim(x, 0)": (1, None)}),
        ("i32[3,4]", [0, 0], "proved", {}),
        ("i32[1..9,4]", [0, 0], "proved", {}),
        # A slice both adds and removes axes: the plugin fills one element of each row, and leaves the others as they were.
        ("i32[3,4]", [0, 1], "unknown", {}),
    ],
)
def test_an_axis_that_is_shrunk(x, new_axis, status, requires):
    def shrunk(x):
        return ops.strided_slice(ops.clamp(x, 0, 3), [0, 0], [1, 1], [1, 1], [0, 0], [0, 0], new_axis, [1, 0])

    proof = last_proof(lambda x: looked_up(4, shrunk(x)), x=x)
    assert (proof.status, dict(proof.requires)) == (status, requires)


@pytest.mark.parametrize(
    ("second", "is_open", "status"), [("?", True, "unknown"), ("9", True, "proved"), ("?", False, "proved")]
)
def test_nothing_is_known_of_an_if_with_two_outputs_of_open_sizes(second, is_open, status):
    """When a branch is executed for the first time, the plugin gives out memory of the first output that it has freed."""

    def make(x, y, condition):
        branches = [lambda one, other, highest=highest: [ops.clamp(one, 0, highest), ops.relu(other)] for highest in (2, 3)]
        index, rest = if_of(condition if is_open else ops.constant(True), [x, y], *branches)
        return looked_up(4, index), ops.sign(rest)

    proof = last_proof(make, x="i32[?]", y=f"i32[{second}]", condition="boolean[]")
    assert proof.status == status


@pytest.mark.parametrize(
    ("x", "status"), [("i32[4,2]", "proved"), ("i32[4,2,3,5]", "proved"), ("i32[4,2,3]", "unknown"), ("i32[...]", "unknown")]
)
def test_nothing_is_known_of_arithmetic_after_a_reduction_of_three_dimensions(x, status):
    """The plugin computes both together, and only the first slice rightly."""

    def index(x):
        return ops.add(ops.squeeze(ops.reduce_max(ops.clamp(x, 0, 2), number([1]), True), number([1])), number(1, I32))

    assert last_proof(lambda x: looked_up(4, index(x)), x=x).status == status
