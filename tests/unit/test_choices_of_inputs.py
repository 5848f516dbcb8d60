"""Inputs of models: sizes where dimensions are open, indices within bounds, and which of several choices is told."""

from dataclasses import dataclass

import numpy as np
import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION as N
from ov_gather.crosscheck.inputs.bounds import index_bounds
from ov_gather.crosscheck.inputs.onnx import choices
from ov_gather.crosscheck.models.trials import Attempt, ConversionTrial
from ov_gather.graph.protocol import Node
from ov_gather.ir.shapes import UNKNOWN, PartialShape
from ov_gather.ops.table import ONNX


def attempt(name, problem="", is_conclusive=True):
    return Attempt({name: None}, (), (), problem, is_conclusive)


class Tried(ConversionTrial):
    """A trial whose attempts are given, and that counts them."""

    def __init__(self, *attempts):
        self.count, self._given = 0, attempts

    def _accepted(self, choices):
        return ((one.inputs, None) for one in self._given)

    def _attempt(self, inputs, expected):
        self.count += 1
        return self._given[self.count - 1]


@pytest.fixture(autouse=True)
def shapes(monkeypatch):
    monkeypatch.setattr("ov_gather.crosscheck.models.trials._shapes", lambda inputs: ", ".join(inputs))


def test_the_first_that_is_conclusive_ends_it():
    trial = Tried(attempt("a", "no", False), attempt("b", "", False), attempt("c"), attempt("d"))
    found = trial.run([])
    assert ([*found.inputs], trial.count) == (["c"], 3)
    assert found.notes == ("for inputs of a: no",)


def test_else_the_first_that_has_outputs():
    found = Tried(
        attempt("a", "no", False), attempt("b", "", False), attempt("c", "", False), attempt("d", "never", False)
    ).run([])
    assert [*found.inputs] == ["b"]
    assert found.notes == ("for inputs of a: no", "for inputs of d: never")


def test_else_the_first():
    found = Tried(attempt("a", "no", False), attempt("b", "never", False)).run([])
    assert ([*found.inputs], found.problem) == (["a"], "no")
    assert found.notes == ("for inputs of b: never",)


def test_a_problem_may_be_conclusive():
    found = Tried(attempt("a", "", False), attempt("b", "it crashes", True)).run([])
    assert ([*found.inputs], found.problem, found.notes) == (["b"], "it crashes", ())


def test_nothing_is_accepted():
    assert Tried().run([]) is None


def tried(inputs):
    model = onnx_ir.from_proto(parsed(f"({inputs}) => (float[1] y) {{ y = Neg(x) }}"))
    return [tuple(one.shapes.values()) for one in choices(model.graph.inputs)]


PICTURES = [
    *((N, 3, 64, 64), (1, 3, 224, 224), (N, N, N, N), (2, 3, 320, 320), (1, 1, 32, 32), (1, 3, 640, 640), (2, 3, 48, 48)),
    *((1, 1, 28, 28), (1, 3, 1, 1), (32, 32, 32, 32), (1, 1, 1, 1), (256, 256, 256, 256)),
]


def test_pictures():
    assert tried("float[b, c, h, w] x") == [(one,) for one in PICTURES]
    last = [(batch, side, side, 3) for batch, _, side, _ in PICTURES]
    assert tried("float[b, h, w, 3] x") == [(one,) for one in dict.fromkeys(last)]
    first = [(batch, 3, side, side) for batch, _, side, _ in PICTURES]
    assert tried("float[b, 3, h, w] x") == [(one,) for one in dict.fromkeys(first)]


@pytest.mark.parametrize(
    ("inputs", "first", "second"),
    [
        ("int64[n] x", (N,), (128,)),
        ("float[n] x", (N,), (128,)),
        ("int64[b, s] x", (N, N), (1, N)),
        ("int64[b, h, s, d] x", (N, N, N, N), (1, N, N, N)),  # integers are no picture
        ("float[b, h, d] x", (N, N, N), (1, N, N)),
        ("float[5, n] x", (5, N), (5, 128)),
        ("float[5] x", (5,), None),
    ],
)
def test_parts_of_other_inputs(inputs, first, second):
    found = [shape for (shape,) in tried(inputs)]
    assert [*found, None][:2] == [first, second]
    assert len(set(found)) == len(found)


def test_one_name_has_one_size():
    found = tried("int64[n] x, float[b, n] z")
    assert all(one == (other,) or one[0] == other[1] for one, other in found)
    assert len({other[0] for _, other in found}) > 2


@dataclass
class Nodes:
    """A graph of nodes: the operator, and the inputs and outputs by name. Constants are by name, too."""

    given: list[tuple[str, list[str], list[str]]]
    constants: dict[str, object]
    attributes: dict[str, int]
    shape: PartialShape = UNKNOWN

    def shape_of(self, key):
        return self.shape

    def uses(self, key):
        for operator, inputs, outputs in self.given:
            node = Node(operator, "", "", (), inputs, outputs, self.attributes)
            yield from ((node, position) for position, given in enumerate(inputs) if given == key)

    def constant(self, key):
        number = self.constants.get(key)
        return None if number is None else np.asarray(number)


def bounds(*nodes, constants=None, known_sizes=None, shape=UNKNOWN, **attributes):
    sizes = known_sizes or {}
    graph = Nodes([*nodes], constants or {}, attributes, shape)
    return sorted(index_bounds(graph, "x", ONNX, lambda key: sizes.get(key, ())))


GATHER = ("Gather", ["d", "x"], ["y"])


@pytest.mark.parametrize(
    ("sizes", "axis", "end"),
    [
        ((5, 7), 0, 5),
        ((5, 7), 1, 7),
        ((5, 7), -1, 7),
        ((5, 7), -2, 5),
        ((5, 7), 2, 1),
        ((5, 7), -3, 1),
        ((5, 7), None, 5),
        ((), None, 1),
        ((), 0, 1),
    ],
)
def test_an_axis(sizes, axis, end):
    assert bounds(GATHER, known_sizes={"d": sizes}, axis=axis) == [(0, end)]


def test_data_is_no_index():
    assert bounds(("Gather", ["x", "i"], ["y"]), known_sizes={"x": (5,)}) == []


@pytest.mark.parametrize(
    ("tuples", "batch", "end"), [((4, 1), 0, 9), ((4, 2), 0, 5), ((4, 3), 0, 3), ((9, 4, 2), 1, 3), ((9, 1), 1, 5), ((), 0, 3)]
)
def test_tuples(tuples, batch, end):
    node = ("GatherND", ["d", "x"], ["y"])
    assert bounds(node, known_sizes={"d": (9, 5, 3), "x": tuples}, batch_dims=batch) == [(0, end)]


@pytest.mark.parametrize(("depth", "end"), [(6, 6), ([6], 6), ([6, 7], 2), (None, 2)])
def test_classes(depth, end):
    assert bounds(("OneHot", ["x", "depth", "values"], ["y"]), constants={"depth": depth}) == [(0, end)]


@pytest.mark.parametrize(
    ("node", "number", "expected"),
    [
        (("Add", ["i", "c"], ["x2"]), 3, (-3, 2)),
        (("Add", ["c", "i"], ["x2"]), 3, (-3, 2)),
        (("Add", ["i", "c"], ["x2"]), [3], (-3, 2)),
        (("Add", ["i", "c"], ["x2"]), [3, 4], (0, 5)),
        (("Add", ["i", "c"], ["x2"]), None, (0, 5)),
        (("Sub", ["i", "c"], ["x2"]), 3, (3, 8)),
        (("Sub", ["c", "i"], ["x2"]), 3, (0, 5)),
    ],
)
def test_sums(node, number, expected):
    operator, inputs, outputs = node
    inputs = ["x" if given == "i" else given for given in inputs]
    gather = ("Gather", ["d", "x2"], ["y"])
    assert bounds((operator, inputs, outputs), gather, constants={"c": number}, known_sizes={"d": (5,)}) == [expected]


def test_the_way_is_followed_once():
    """Through operators that only move, and sums that add up; a loop ends."""
    nodes = [
        ("Identity", ["x"], ["a"]),
        ("Add", ["a", "one"], ["b"]),
        ("Unsqueeze", ["b", "axes"], ["c"]),
        ("Add", ["c", "one"], ["e"]),
        ("Gather", ["d", "e"], ["y"]),
        ("Gather", ["d", "b"], ["z"]),
        ("Identity", ["e"], ["x"]),
        ("Relu", ["a"], ["f"]),
        ("Gather", ["d", "f"], ["w"]),
    ]
    assert bounds(*nodes, constants={"one": 1}, known_sizes={"d": (5,)}) == [(-2, 3), (-1, 4)]


@pytest.mark.parametrize(("row", "expected"), [([4, 2, 9], [(2, 10)]), ([4, 2], []), (None, []), ([[0, 1], [2, 3]], [(0, 4)])])
@pytest.mark.parametrize("inputs", [["x", "row"], ["row", "x"]])
def test_a_row_of_classes(row, expected, inputs):
    """What is compared with two numbers, as `0 or 1` is, is no class."""
    assert bounds(("Equal", inputs, ["y"]), constants={"row": row}) == expected
    shifted = [(low - 1, end - 1) for low, end in expected]
    moved = ["x2" if given == "x" else given for given in inputs]
    assert bounds(("Add", ["x", "one"], ["x2"]), ("Equal", moved, ["y"]), constants={"row": row, "one": 1}) == shifted


@pytest.mark.parametrize(("shape", "expected"), [((), [(8, 9)]), ((1,), [(8, 9)]), ((2,), []), (None, [])])
def test_a_number_that_chooses_what_is_computed(shape, expected):
    """It is the first of the constants that it is compared with, unless it is an index."""
    nodes = [("Equal", ["x", "low"], ["is_low"]), ("Equal", ["x", "high"], ["is_high"])]
    of = {"constants": {"low": 8, "high": [16]}, "shape": UNKNOWN if shape is None else PartialShape.of(shape)}
    assert bounds(*nodes, **of) == expected
    assert bounds(*nodes, GATHER, known_sizes={"d": (5,)}, **of) == [(0, 5)]
