"""A condition is about the part of an input that a gather reads: NumPy says which elements of the input that is."""

import numpy as np
import onnx
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.openvino_models import looked_up, made_of, number
from ov_gather import guard, prove
from ov_gather.converters import prove_onnx

pytestmark = pytest.mark.openvino

SHAPE = (2, 6, 3)
ROWS = 5


def pieces(x, axis, count):
    return ops.split(x, number(axis), count)


def strided(x, begin, end, step, **masks):
    none = [0] * len(begin)
    ends = [number(one) for one in (begin, end, step)]
    given = [masks.get(name, none) for name in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")]
    return ops.strided_slice(x, *ends, *given, none)


CUTS = {
    "a place": (lambda x: ops.gather(x, number(4), number(1)), lambda x: x[:, 4], "x[:, 4]"),
    "a place from the end": (lambda x: ops.gather(x, number(-1), number(-1)), lambda x: x[..., -1], "x[:, :, 2]"),
    "places": (lambda x: ops.gather(x, number([1, 3, 5]), number(1)), lambda x: x[:, 1::2], "x[:, 1:6:2]"),
    "places out of order": (lambda x: ops.gather(x, number([3, 1]), number(1)), lambda x: x[:], "x"),
    "places that are computed": (
        lambda x: ops.gather(x, ops.clamp(ops.reduce_max(x, number([0, 1, 2])), 0, 1), number(1)),
        None,
        "x",
    ),
    "a place of a place": (
        lambda x: ops.gather(ops.gather(x, number(1), number(0)), number([0, 1]), number(1)),
        lambda x: x[1, :, :2],
        "x[1, :, :2]",
    ),
    "a piece": (lambda x: pieces(x, 1, 3).output(1), lambda x: x[:, 2:4], "x[:, 2:4]"),
    "a piece of a piece": (lambda x: pieces(pieces(x, 1, 2).output(1), 1, 3).output(2), lambda x: x[:, 5:6], "x[:, 5]"),
    "the rest": (lambda x: ops.variadic_split(x, number(1), number([1, -1, 2])).output(1), lambda x: x[:, 1:4], "x[:, 1:4]"),
    "a slice": (
        lambda x: ops.slice(x, number([1]), number([-1]), number([2]), number([1])),
        lambda x: x[:, 1:-1:2],
        "x[:, 1:4:2]",
    ),
    "slices": (
        lambda x: ops.slice(x, number([0, 3]), number([1, 99]), number([1, 1]), number([2, 1])),
        lambda x: x[:, 3:, :1],
        "x[:, 3:6, 0]",
    ),
    "a slice backwards": (
        lambda x: ops.slice(x, number([-1]), number([0]), number([-1]), number([1])),
        lambda x: x[:, 1:],
        "x",
    ),
    "a strided slice": (lambda x: strided(x, [0, 1], [0, 4], [1, 2], end_mask=[1, 0]), lambda x: x[:, 1:4:2], "x[:, 1:4:2]"),
    "a row": (
        lambda x: strided(x, [1, -2], [0, 0], [1, 1], end_mask=[0, 1], shrink_axis_mask=[1, 0]),
        lambda x: x[1, -2:],
        "x[1, 4:6]",
    ),
    "all of it": (lambda x: ops.slice(x, number([0]), number([6]), number([1]), number([1])), lambda x: x[:], "x"),
}


def refused_at(terms_of_guard, shape, bad=ROWS):
    """Say for each element of the input whether the guard refuses it if it alone is out of bounds."""
    found = np.zeros(shape, bool)
    for place in np.ndindex(shape):
        x = np.zeros(shape, np.int64)
        x[place] = bad
        try:
            terms_of_guard({"x": x})
        except ValueError as error:
            assert f"x[{', '.join(map(str, place))}] = {bad} is out of bounds" in str(error)
            found[place] = True
    return found


def is_read(part, shape):
    places = np.arange(np.prod(shape)).reshape(shape)
    return np.isin(places, part(places))


@pytest.mark.parametrize("is_in_memory", [True, False])
@pytest.mark.parametrize("name", CUTS)
def test_a_guard_refuses_what_is_read(name, is_in_memory, tmp_path):
    make, part, text = CUTS[name]
    model = made_of(lambda x: looked_up(ROWS, make(x)), x=f"i64[{','.join(map(str, SHAPE))}]")
    ov.serialize(model, tmp_path / "model.xml")
    check = guard(model if is_in_memory else tmp_path / "model.xml")
    assert check.uncovered == ()
    if part is None:
        return
    assert [str(one) for one in check.conditions] == [f"{text} in -{ROWS}..{ROWS - 1}"]
    np.testing.assert_array_equal(refused_at(check, SHAPE), is_read(part if text != "x" else lambda x: x, SHAPE))


@pytest.mark.parametrize(
    ("begin", "end", "text"),
    [([1], [2], "x[1]"), ([-2], [2**31 - 1], "x[-2:]"), ([0], [-1], "x[:-1]"), ([1], [99], "x[1:99]"), ([0], [2**31 - 1], "x")],
)
def test_slices_of_open_axes(begin, end, text):
    """They end where the axis does, as Python's do; of a place of such an axis nobody knows whether it is there."""
    model = made_of(lambda x: looked_up(ROWS, ops.slice(x, number(begin), number(end), number([1]), number([0]))), x="i64[?,2]")
    check = guard(model)
    assert [str(one) for one in check.conditions] == [f"{text} in -{ROWS}..{ROWS - 1}"]
    for rows in (0, 1, 2, 5):
        read = is_read(lambda x: x[begin[0] : end[0]], (rows, 2))
        np.testing.assert_array_equal(refused_at(check, (rows, 2)), read)
    whole = guard(made_of(lambda x: looked_up(ROWS, ops.gather(x, number(1), number(0))), x="i64[?,2]"))
    assert {str(one) for one in whole.conditions} == {f"x in -{ROWS}..{ROWS - 1}", "dim(x, 0) >= 2"}


IN_ONNX = {
    "c = Gather<axis = 1>(x, four)": "x[:, 4]",
    "a, c = Split<axis = 1, num_outputs = 2>(x)": "x[:, 3:6]",
    "a, c, b = Split<axis = 1>(x, lengths)": "x[:, 2]",
    "c = Slice(x, one, two, one)": "x[:, 1]",
    "c = Slice(x, one, two, one, two)": "x[:, 1]",
}


@pytest.mark.parametrize("node", IN_ONNX)
def test_parts_in_onnx(node):
    numbers = {"lengths": [2, 1, 3], "one": [1], "two": [2]}
    constants = " ".join(f"{name} = Constant<value_ints = {some}>()" for name, some in numbers.items())
    inner = f"four = Constant<value_int = 4>() {constants} {node} y = Gather(t, c)"
    text = f"int64[2,6,3] x, float[5,4] t) => (float[A,B,C,D] y) {{ {inner} }}"
    proofs = prove_onnx(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 18]> g ({text}'))
    requires = [dict(proof.requires) for proof in proofs if proof.status == "conditional"]
    assert requires == [{IN_ONNX[node]: (-5, 4)}]


def two_vocabularies(x):
    """Characters and syllables, as channels of one input."""
    characters, syllables = (ops.gather(x, number(channel), number(1)) for channel in (0, 1))
    return looked_up(5, characters), looked_up(50, syllables)


def test_ids_of_two_vocabularies_in_one_input():
    model = made_of(two_vocabularies, x="i64[1,2,?]")
    check = guard(model)
    assert [str(one) for one in check.conditions] == ["x[:, 0] in -5..4", "x[:, 1] in -50..49"]
    check({"x": np.array([[[0, 4, -5], [49, 5, -50]]])})
    with pytest.raises(
        ValueError, match=r"x\[0, 0, 1\] = 5 is out of bounds \(valid -5\.\.4\): Gather .* needs x\[:, 0\] in -5"
    ):
        check({"x": np.array([[[0, 5, 9], [49, 5, -50]]])})


def test_a_site_that_reads_several_parts():
    """Each has bounds of its own; if they are alike, and the parts are all that there is, the condition is about the whole."""
    table = ops.constant(np.zeros((5, 50), np.float32))

    def coordinates(x, columns):
        parts = [ops.gather(x, number([column]), number(1)) for column in columns]
        return ops.gather_nd(table, ops.concat(parts, 1))

    (apart,) = (one for one in prove(made_of(lambda x: coordinates(x, [0, 1]), x="i64[?,2]")) if "ND" in one.type)
    assert apart.requires == {"x[:, 0]": (-5, 4), "x[:, 1]": (-50, 49)}
    (alike,) = (
        one
        for one in prove(
            made_of(
                lambda x: looked_up(5, ops.concat([ops.gather(x, number([1 - one]), number(1)) for one in (0, 1)], 1)),
                x="i64[?,2]",
            )
        )
        if one.status == "conditional"
    )
    assert alike.requires == {"x": (-5, 4)}


def test_an_example_has_a_value_for_each_part():
    model = made_of(lambda x: looked_up(5, ops.subtract(ops.gather(x, number(1), number(1)), number(9))), x="i64[?,2]")
    (proof,) = (one for one in prove(model) if one.status == "conditional")
    assert proof.requires == {"x[:, 1]": (4, 13)}
    assert proof.example == {"x[:, 1]": 4}


def test_the_next_condition_does_not_keep_what_another_assumed():
    """The two sites read the same part, of which the search assumes more and less by turns."""

    def twice(x):
        part = ops.gather(x, number(0), number(1))
        return looked_up(5, part), looked_up(3, ops.add(part, part)), looked_up(9, ops.gather(x, number(1), number(1)))

    proofs = {proof.axis_size: dict(proof.requires) for proof in prove(made_of(twice, x="i64[?,2]"))}
    assert [proofs[size] for size in (5, 3, 9)] == [{"x[:, 0]": (-5, 4)}, {"x[:, 0]": (-1, 1)}, {"x[:, 1]": (-9, 8)}]
