"""Bounds of the integers that a model input may hold without an index going out of bounds, and whether some should be equal.

The algorithm follows an input to its uses as indices, through operators that move elements and through additions of a constant
number. `ov_gather.ops.table` defines the operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from numpy.typing import NDArray

from ov_gather.graph.protocol import Graph, Key, Node
from ov_gather.ops.attribute import parse_integer
from ov_gather.ops.index_table import ONNX_INDICES, IndexRow, openvino_rows
from ov_gather.ops.table import ONNX, Along, Indices, Op, Operators, OpKind
from ov_gather.system.traversal import reachable

_SMALLEST_DEPTH = 2
_SEARCHING = (OpKind.COMPARISON, OpKind.ORDER, OpKind.SEARCH)

Sizes = Callable[[Key], tuple[int, ...]]
"""A function that returns the shape of a tensor, with the smallest size for open dimensions; () if the rank is unknown."""


def index_bounds(graph: Graph, source: Key, operators: Operators, sizes: Sizes) -> list[tuple[int, int]]:
    """Return the valid interval of `source` (lowest, exclusive end) for each node that it reaches as indices.

    A single number that is no index but compared with constants, as a sampling rate is, chooses what the model computes: it is
    the first of them.
    """
    found = []
    modes = []
    for node, position, shift in _uses(graph, source, operators):
        op = operators[node.type]
        indices = op.meaning.indices
        rows = [row for row in _rows(node, operators) if row.port == position]
        found += [(-shift, _size_of_row(node, row, sizes) - shift) for row in rows]
        if indices is not None and indices.position == position:
            found.append((-shift, _smallest_size(graph, node, indices, operators, sizes) - shift))
        elif op.symbol == "==":
            row = _constant(graph, node, 1 - position)
            found += _compared_with(row, shift)
            modes += [] if row is None or row.size != 1 else [int(row.item()) - shift]
    shape = graph.shape_of(source)
    is_single = shape.is_static and prod(shape.sizes) == 1
    return found or [(mode, mode + 1) for mode in modes[:is_single]]


def _uses(graph: Graph, source: Key, operators: Operators) -> Iterator[tuple[Node, int, int]]:
    """Yield the nodes that a tensor reaches, each with the position of the input and the constant added so far."""
    seen: set[Key] = set()
    waiting = [(source, 0)]
    while waiting:
        key, shift = waiting.pop()
        uses = () if key in seen else graph.uses(key)
        seen.add(key)
        for node, position in uses:
            yield node, position, shift
            op = operators[node.type]
            if op.symbol in ("+", "-"):
                waiting += [(output, shift + _added(graph, node, position, op)) for output in node.outputs]
            elif op.carries(position):
                waiting += [(output, shift) for output in node.outputs]


def is_searched(graph: Graph, source: Key, operators: Operators) -> bool:
    """Return True if elements of `source` reach a node that compares, sorts or searches them, as Unique, TopK and NonZero."""

    def moved(key: Key) -> list[Key]:
        uses = [(node, operators[node.type].carries(position)) for node, position in graph.uses(key)]
        return [output for node, is_carried in uses if is_carried for output in node.outputs]

    read = (node for key in reachable([source], moved) for node, _ in graph.uses(key))
    return any(operators[node.type].kind in _SEARCHING for node in read)


def _smallest_size(graph: Graph, node: Node, indices: Indices, operators: Operators, sizes: Sizes) -> int:
    """Return the size of the axis that indices refer to; the smallest one if there are several."""
    if indices.along is Along.CLASSES:
        depth = _number(graph, node, 1)
        return _SMALLEST_DEPTH if depth is None else depth
    data = () if node.inputs[0] is None else sizes(node.inputs[0])
    if indices.along is Along.COORDINATES:
        tuples = node.inputs[indices.position]
        start, length = _attribute(node, "batch_dims") or 0, () if tuples is None else sizes(tuples)[-1:]
        return min(data[start : start + length[0]] if length else data, default=1)
    axis = _attribute(node, "axis") if "axis" in node.attributes or operators is ONNX else _number(graph, node, -1)
    if axis is None:
        return min(data, default=1)
    return data[axis] if -len(data) <= axis < len(data) else 1


def _rows(node: Node, operators: Operators) -> Sequence[IndexRow]:
    """Return the rows of a node in the index table, without those whose bounds it does not have."""
    rows = ONNX_INDICES.get(node.type, ()) if operators is ONNX else openvino_rows(node.type, node.opset)
    return [row for row in rows if not row.unknown]


def _size_of_row(node: Node, row: IndexRow, sizes: Sizes) -> int:
    """Return the number of values in bounds; 1, as no index is then out of bounds, if the axis is unknown."""
    if row.size is not None:
        return row.size if isinstance(row.size, int) else _attribute(node, row.size) or 1
    key = node.inputs[row.data]
    data, axis = () if key is None else sizes(key), _attribute(node, row.axis) if isinstance(row.axis, str) else row.axis
    return data[axis] + row.spare if axis is not None and -len(data) <= axis < len(data) else 1


def _attribute(node: Node, name: str) -> int | None:
    """Return an integer attribute; None if it is malformed, which validation reports."""
    try:
        return parse_integer(node.text(name, "0"))
    except ValueError:
        return None


def _constant(graph: Graph, node: Node, position: int) -> NDArray[Any] | None:
    """Return the constant integers of an input; None if it is not constant or not an integer tensor."""
    key = node.inputs[position] if position < len(node.inputs) else None
    found = None if key is None else graph.constant(key)
    return found if found is not None and found.dtype.kind in "iu" else None


def _number(graph: Graph, node: Node, position: int) -> int | None:
    """Return the only element of a constant input; None if it is not constant, or not one element."""
    constant = _constant(graph, node, position)
    return None if constant is None or constant.size != 1 else int(constant.reshape(()))


def _added(graph: Graph, node: Node, position: int, op: Op) -> int:
    """Return the constant that a sum or difference adds to the input at this position; 0 if it is not one constant number."""
    number, subtracts = _number(graph, node, 1 - position), op.symbol == "-"
    if number is None or (subtracts and position == 1):
        return 0
    return -number if subtracts else number


def _compared_with(row: NDArray[Any] | None, shift: int) -> Iterator[tuple[int, int]]:
    """Yield the range of a constant row that the input is compared with: Equal makes one-hot vectors of class numbers."""
    if row is not None and row.size > _SMALLEST_DEPTH:
        yield int(row.min()) - shift, int(row.max()) + 1 - shift
