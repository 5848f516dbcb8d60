"""This module tells which integers an input of a model may hold, where it is known what becomes of them: one algorithm for
graphs of every kind.

The integers of an input are followed to the operators that use them as indices, through operators that give them out again and
through sums with one constant number. What the operators do stands in `ov_gather.ops.meanings`. An adapter for each kind of
graph (`ir.py`, `onnx.py`, `openvino.py`) tells what the algorithm asks of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from ov_gather.ops.meanings import Along, Indices, Meaning, carries

ValueT = TypeVar("ValueT", bound=Hashable)
NodeT = TypeVar("NodeT")

_SUMS = ("Add", "Sub", "Subtract")
_DIFFERENCES = ("Sub", "Subtract")
_SMALLEST_DEPTH = 2


class Graph(Protocol[ValueT, NodeT]):
    """What the algorithm asks of a graph, whose values and nodes may be of any type."""

    meanings: Mapping[str, Meaning]

    def operator(self, node: NodeT) -> str:
        """Name the operator of a node as the meanings do."""

    def uses(self, value: ValueT) -> Iterable[tuple[NodeT, int]]:
        """Yield the nodes that take a value, each with the position of the input."""

    def outputs(self, node: NodeT) -> Iterable[ValueT]:
        """Yield the values that a node gives out."""

    def constant(self, node: NodeT, position: int) -> NDArray[Any] | None:
        """Read the integers of the input at this position; None if they are not constant, or no integers."""

    def axis(self, node: NodeT) -> int | None:
        """Read the axis of a node, which an attribute or an input gives; None if it is not constant."""

    def batch_dims(self, node: NodeT) -> int:
        """Read the number of batch dimensions of a node."""

    def sizes(self, node: NodeT, position: int) -> tuple[int, ...]:
        """Tell the sizes of an input: an open one as small as can be, and () where not even the rank is known."""


def index_bounds(graph: Graph[ValueT, NodeT], source: ValueT) -> Iterator[tuple[int, int]]:
    """Yield the lowest value and the end of those that keep indices in bounds, for each node whose indices `source` reaches."""
    seen: set[ValueT] = set()
    waiting = [(source, 0)]  # each value with what is added on the way
    while waiting:
        value, shift = waiting.pop()
        uses = () if value in seen else graph.uses(value)
        seen.add(value)
        for node, position in uses:
            operator = graph.operator(node)
            meaning = graph.meanings.get(operator)
            if meaning and meaning.indices and meaning.indices.position == position:
                yield -shift, _smallest_size(graph, node, meaning.indices) - shift
            elif operator == "Equal":
                yield from _compared_with(graph.constant(node, 1 - position), shift)
            elif operator in _SUMS:
                added = _added(graph, node, operator, position)
                waiting += [(output, shift + added) for output in graph.outputs(node)]
            elif carries(graph.meanings, operator, position):
                waiting += [(output, shift) for output in graph.outputs(node)]


def _smallest_size(graph: Graph[ValueT, NodeT], node: NodeT, indices: Indices) -> int:
    """Tell the size of what indices count along; where it is several axes, that of the smallest."""
    if indices.along is Along.CLASSES:
        depth = graph.constant(node, 1)
        return _SMALLEST_DEPTH if depth is None or depth.size != 1 else int(depth.reshape(()))
    data = graph.sizes(node, 0)
    if indices.along is Along.COORDINATES:
        start, depth_of_tuples = graph.batch_dims(node), graph.sizes(node, indices.position)[-1:]
        reached = data[start : start + depth_of_tuples[0]] if depth_of_tuples else data
        return min(reached, default=1)
    axis = graph.axis(node)
    if axis is None:
        return min(data, default=1)
    return data[axis] if -len(data) <= axis < len(data) else 1


def _added(graph: Graph[ValueT, NodeT], node: NodeT, operator: str, position: int) -> int:
    """Tell what a sum or difference adds to the input at this position, if that is one constant number; else 0."""
    other = graph.constant(node, 1 - position)
    if other is None or other.size != 1 or (operator in _DIFFERENCES and position == 1):
        return 0
    number = int(other.reshape(()))
    return -number if operator in _DIFFERENCES else number


def _compared_with(row: NDArray[Any] | None, shift: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a row of integers: what is compared with one is a class, of which it makes a one-hot vector."""
    if row is not None and row.size > _SMALLEST_DEPTH:
        yield int(row.min()) - shift, int(row.max()) + 1 - shift
