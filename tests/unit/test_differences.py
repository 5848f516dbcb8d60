"""What `diff` tells of two models, and what it does not."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from helpers.disguise import disguised
from helpers.paths import SAMPLES
from helpers.planted_changes import KINDS, is_told
from ov_gather import IRError, diff, read_ir
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64, STRING, by_name
from ov_gather.ir.model import Element
from ov_gather.ir.shapes import PartialShape

SHAPE = PartialShape.of([2, 3])
VALID = sorted((SAMPLES / "valid").glob("*.xml"))


class Net(ModelBuilder):
    """A model whose tensors all are f32[2,3]."""

    def input(self, name="x", shape=SHAPE):
        return self.parameter(name, F32, shape)

    def op(self, type_, *inputs, name=None, shape=SHAPE, **attributes):
        name = name or f"{type_}_{len(self._layers)}"
        return self.layer(type_, name, "opset1", attributes, inputs, [(F32, shape)])[0]

    def output(self, value, name="y"):
        self.result(name, value)


def net_of(fill):
    """A function that returns the model that `fill` makes of an empty one."""

    def made(*arguments, **options):
        net = Net("net")
        fill(net, *arguments, **options)
        return net.build()

    return made


def texts(found):
    return [str(change) for change in found.changes]


@pytest.mark.parametrize("seed", [0, 1])
def test_other_ids_names_ports_and_order_are_no_difference(seed):
    for path in VALID:
        model = read_ir(path)
        found = diff(disguised(model, seed), model)
        assert found.passed, (path, texts(found))
        assert found.same == sum(layer.type != "Const" for _, graph in model.walk() for layer in graph.layers), (
            path
        )  # every layer, those in bodies included, has been matched


@pytest.mark.parametrize("kind", KINDS)
def test_one_planted_change_is_told_and_nothing_else(kind):
    told = 0
    for path in VALID:
        model = read_ir(path)
        planted = None if model.is_fragment else KINDS[kind](model, Random(path.name))
        if planted:
            found = diff(disguised(model), planted.model)
            assert is_told(planted, found), (path, planted.layer, texts(found))
            told += 1
    assert told >= 2


def test_another_way_of_slicing_is_told():
    model = read_ir(SAMPLES / "valid" / "loop.xml")
    (loop,) = model.of_type("Loop")

    def reverse(element: Element) -> Element:
        other = {"stride": "-2"} if "stride" in element.attributes else {}
        children = tuple(map(reverse, element.children))
        return replace(element, attributes={**element.attributes, **other}, children=children)

    found = diff(model, _with(model, replace(loop, sections=tuple(map(reverse, loop.sections)))))
    assert [(change.kind, change.what, change.before, change.after) for change in found.changes] == [
        ("attribute", "stride of output 1", "2", "-2")
    ]


def _with(model, changed):
    return replace(model, layers=tuple(changed if layer.id == changed.id else layer for layer in model.layers))


@net_of
def two_inputs(net, first, second, order=(0, 1), names=("x", "y")):
    inputs = [net.input(name) for name in names]
    net.output(net.op("Subtract", inputs[order[0]], inputs[order[1]], name=f"{first}-{second}"))


def test_inputs_of_the_same_names_are_the_same_inputs():
    found = diff(two_inputs("x", "y"), two_inputs("y", "x", order=(1, 0)))
    assert [(change.kind, change.before, change.after) for change in found.changes] == [
        ("input", "Parameter 'x'", "Parameter 'y'"),
        ("input", "Parameter 'y'", "Parameter 'x'"),
    ]


def constant_of(array, element_type=F32):
    builder = ModelBuilder("net")
    x = builder.parameter("x", element_type, SHAPE)
    c = builder.const("c", element_type, array)
    for i in range(3):
        builder.result(f"y{i}", builder.layer("Add", f"add{i}", "opset1", {}, [x, c], [(element_type, SHAPE)])[0])
    return builder.build()


I4 = by_name("i4")
NUMBERS = np.array([[1, -8, 3], [4, 5, 6], [7, 0, -1]])
WORDS = np.array([f"word {i}" for i in range(12)], object)
LARGE = np.arange(60, dtype=np.float32).reshape(20, 3)
WORD_5 = ("'word 5'", "'wörd'")
OTHER = np.where(np.isin(LARGE, [31, 50]), 7, LARGE)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
NANS = np.where(LARGE > 32, np.float32(np.nan), np.float32(LARGE == 1))
"""27 times NaN, whose sign is a bit like others."""
OF_NAN = "; 28 of 60 elements differ, the first at [0, 1]; 27 of these are NaN on both sides"


@pytest.mark.parametrize(
    ("kind", "before", "after", "what", "values"),
    [
        (F32, LARGE, OTHER, "; 2 of 60 elements differ, the first at [10, 1]", ("31.0", "7.0")),
        (F32, LARGE[0], OTHER[9] + 7, "", ("f32[3] 0.0, 1.0, 2.0", "f32[3] 34.0, 35.0, 36.0")),
        (F32, LARGE, LARGE[:5], "", ("f32[20, 3]", "f32[5, 3]")),
        (F32, LARGE, LARGE.T, "; the same, transposed by [1, 0]", ("f32[20, 3]", "f32[3, 20]")),
        (F32, LARGE[:3], LARGE[:3].T, "; the same, transposed by [1, 0]", ("f32[3, 3]", "f32[3, 3]")),
        (F32, CUBE, CUBE.transpose(2, 0, 1), "; the same, transposed by [2, 0, 1]", ("f32[2, 3, 4]", "f32[4, 2, 3]")),
        (I4, NUMBERS, NUMBERS.T, "; the same, transposed by [1, 0]", ("i4[3, 3]", "i4[3, 3]")),
        (F32, LARGE, LARGE.reshape(3, 20), "", ("f32[20, 3]", "f32[3, 20]")),
        (
            F32,
            NANS,
            np.where(NANS == 0, NANS, -NANS),
            OF_NAN,
            ("1.0", "-1.0"),
        ),
        (F32, np.float32(0), np.float32(-0.0), "", ("f32[] 0.0", "f32[] -0.0")),
        (I4, NUMBERS, np.where(NUMBERS == 0, -2, NUMBERS), "; 1 of 9 elements differ, the first at [2, 1]", ("0", "-2")),
        (STRING, WORDS, np.where(WORDS == "word 5", "wörd", WORDS), "; 1 of 12 elements differ, the first at [5]", WORD_5),
    ],
)
def test_constants_that_differ_are_told_once(kind, before, after, what, values):
    (change,) = diff(*(constant_of(array.astype(kind.dtype), kind) for array in (before, after))).changes
    assert (change.kind, change.layer) == ("constant", "Const 'c' (layer 1)")
    assert change.what == "input 1 of Add 'add0' and 2 more" + what
    assert (change.before, change.after) == values


def test_another_type_of_a_constant():
    (*others, change) = diff(constant_of(np.float32(1)), constant_of(np.int64(1), I64)).changes
    assert (change.before, change.after) == ("f32[] 1.0", "i64[] 1")
    assert {other.kind for other in others} == {"type"}


@net_of
def chain(net, *types, shape=SHAPE):
    value = net.input(shape=shape)
    for type_ in types:
        value = net.op(type_, value, shape=shape)
    net.output(value)


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ("ReLU Exp", "ReLU ReLU Exp", ["added"]),  # a twin
        ("ReLU ReLU Exp", "ReLU Exp", ["removed"]),
        ("ReLU Exp Abs", "Exp ReLU Abs", ["input"] * 3),
        ("ReLU Exp", "Sigmoid Exp", ["operation"]),
    ],
)
def test_chains(before, after, kinds):
    found = diff(chain(*before.split()), chain(*after.split()))
    assert [change.kind for change in found.changes] == kinds
    if kinds == ["operation"]:
        assert texts(found) == ["ReLU 'ReLU_1' (layer 1): operation: ReLU opset1 -> Sigmoid opset1"]


def test_what_took_the_place_of_a_removed_operation_is_told():
    @net_of
    def model(net, is_before):
        x, y = net.input("x"), net.input("y")
        net.output(net.op("Exp", net.op("ReLU", x) if is_before else y), "first")
        net.output(net.op("Abs", x), "second")
        net.output(net.op("Abs", y), "third")

    found = diff(model(True), model(False))
    assert [(change.kind, change.before, change.after) for change in found.changes] == [
        ("removed", "", ""),
        ("input", "ReLU 'ReLU_2'", "Parameter 'y'"),
    ]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_one_input_more(is_swapped):
    @net_of
    def joined(net, count):
        given = [net.input(name) for name in "xyz"]
        net.output(net.op("Concat", *given[:count], axis="0", name="join"))
        net.output(net.op("Abs", given[2]), "z")

    before, after = (joined(3), joined(2)) if is_swapped else (joined(2), joined(3))
    (change,) = diff(before, after).changes
    assert (change.kind, change.before, change.after) == (
        ("input", "Parameter 'z'", "") if is_swapped else ("input", "", "Parameter 'z'")
    )


@net_of
def shared(net, copies):
    constants = [net.const(f"c{i}", F32, np.float32([[1, 2, 3]] * 2)) for i in range(copies)]
    net.output(net.op("Multiply", net.op("Add", net.input(), constants[0]), constants[-1]))


@net_of
def mystery(net, axes, keep):
    net.output(net.op("Mystery", net.input(), axes=axes, keep=keep, name="m"))


@net_of
def branches(net, order):
    inputs = [net.input(f"{order}{i}") for i in range(4)]
    for i in order:
        net.output(net.op("Exp", net.op("ReLU", inputs[i])), f"{order} {i}")
    net.output(net.op("Add", inputs[order[0]], inputs[order[1]]), f"sum {order}")


@net_of
def stateful(net, variables):
    x = net.input()
    values = [net.op("ReadValue", x, variable_id=name) for name in variables]
    sums = [net.op("Add", value, net.op(type_, x)) for value, type_ in zip(values, ("Exp", "Abs"), strict=True)]
    for name, value in zip(variables, sums, strict=True):
        net.op("Assign", value, variable_id=name)
    net.output(net.op("Add", *sums))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (shared(1), shared(2)),
        (mystery("1, 2", "true"), mystery("1,2.0", "True")),
        (branches((0, 1, 2, 3)), branches((2, 3, 1, 0))),
        (stateful(["a", "b"]), stateful(["one", "two"])),
        # inputs of other names are known by what is done with them
        (two_inputs("x", "y"), two_inputs("b", "a", order=(1, 0), names=("a", "b"))),
    ],
    ids=["copies of a constant", "ways of writing", "symmetric branches", "names of variables", "names of inputs"],
)
def test_what_is_the_same(one, other):
    assert diff(one, other).passed


def test_another_value():
    assert not diff(mystery("1, 2", "true"), mystery("1, 2", "false")).passed


def test_what_is_assigned_to_variables_counts():
    model = stateful(["a", "b"])
    crossed = [
        replace(layer, attributes={"variable_id": {"a": "b", "b": "a"}[layer.attributes["variable_id"]]})
        if layer.type == "Assign"
        else layer
        for layer in model.layers
    ]
    assert {change.kind for change in diff(model, replace(model, layers=tuple(crossed))).changes} == {"input"}


def test_broken_graphs_are_the_same_as_themselves():
    count = 0
    for path in sorted((SAMPLES / "invalid").rglob("*.xml")):
        try:
            model = read_ir(path)
        except IRError:
            continue
        assert diff(model, model).passed, path
        count += 1
    assert count > 50


def test_fragments():
    path = SAMPLES / "valid" / "spec_layer_fragment.xml"
    fragment = path.read_bytes()
    other = fragment.replace(b'axis="1"', b'axis="0"')
    assert fragment != other
    assert diff(path, fragment).passed
    (change,) = diff(fragment, other).changes
    assert (change.kind, change.what) == ("attribute", "axis")


def test_unrelated_models():
    found = diff(chain("ReLU"), two_inputs("x", "y"))
    assert not found.passed
    assert "added" in {change.kind for change in found.changes}


@pytest.mark.parametrize("part", [12, 24, 1 << 23])
def test_a_constant_is_read_in_parts(monkeypatch, part):
    """Elements 31 and 50, in parts of 3, of 6 or of all."""
    monkeypatch.setattr("ov_gather.ir.differences.constants._PART", part)
    for other, number, place in (
        (OTHER, 2, "[10, 1]"),
        (np.where(LARGE == 0, 5, LARGE), 1, "[0, 0]"),
        (np.where(LARGE >= 57, 5, LARGE), 3, "[19, 0]"),
    ):
        (change,) = diff(constant_of(LARGE), constant_of(other)).changes
        assert change.what.endswith(f"; {number} of 60 elements differ, the first at {place}")


@pytest.mark.parametrize(("count", "all_are_told"), [(8, True), (9, False)])
def test_up_to_eight_elements_are_told_one_by_one(count, all_are_told):
    (change,) = diff(constant_of(np.zeros(count, np.float32)), constant_of(np.ones(count, np.float32))).changes
    zeros, ones = (f"f32[{count}] " + ", ".join([number] * count) for number in ("0.0", "1.0"))
    assert (change.before, change.after) == ((zeros, ones) if all_are_told else ("0.0", "1.0"))
    grown = diff(constant_of(np.zeros(count, np.float32)), constant_of(np.zeros((count, 1), np.float32))).changes
    assert grown[0].before == (zeros if all_are_told else f"f32[{count}]")
