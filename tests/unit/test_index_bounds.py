"""The integers that keep indices in bounds, followed from an input through a graph."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from ov_gather.crosscheck.inputs.bounds import index_bounds
from ov_gather.ops.meanings import ONNX


@dataclass
class Nodes:
    """A graph of nodes: the operator, and the inputs and outputs by name. Constants and sizes are by name, too."""

    nodes: list[tuple[str, list[str], list[str]]]
    constants: dict[str, object] = field(default_factory=dict)
    known_sizes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    along: int | None = 0
    batch: int = 0
    meanings = ONNX

    def operator(self, node):
        return node[0]

    def uses(self, value):
        return [(node, position) for node in self.nodes for position, given in enumerate(node[1]) if given == value]

    def outputs(self, node):
        return node[2]

    def constant(self, node, position):
        number = self.constants.get(node[1][position])
        return None if number is None else np.asarray(number)

    def axis(self, node):
        return self.along

    def batch_dims(self, node):
        return self.batch

    def sizes(self, node, position):
        return self.known_sizes.get(node[1][position], ())


def bounds(*nodes, **options):
    return sorted(index_bounds(Nodes([*nodes], **options), "x"))


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
    assert bounds(GATHER, known_sizes={"d": sizes}, along=axis) == [(0, end)]


def test_data_is_no_index():
    assert bounds(("Gather", ["x", "i"], ["y"]), known_sizes={"x": (5,)}) == []


@pytest.mark.parametrize(
    ("tuples", "batch", "end"), [((4, 1), 0, 9), ((4, 2), 0, 5), ((4, 3), 0, 3), ((9, 4, 2), 1, 3), ((9, 1), 1, 5), ((), 0, 3)]
)
def test_tuples(tuples, batch, end):
    node = ("GatherND", ["d", "x"], ["y"])
    assert bounds(node, known_sizes={"d": (9, 5, 3), "x": tuples}, batch=batch) == [(0, end)]


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
