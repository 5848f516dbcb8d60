"""Bounds of the integers that a model input may hold without an index going out of bounds, for graphs of any kind.

The algorithm follows an input to its uses as indices, through operators that move elements and through additions of a constant
number. `ov_gather.ops.meanings` defines the operators; adapters (`ir.py`, `onnx.py`, `openvino.py`) implement `IndexGraph`.
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


class IndexGraph(Protocol[ValueT, NodeT]):
    """Interface of the graphs that the algorithm traverses, generic over the types of values and nodes."""

    meanings: Mapping[str, Meaning]

    def operator(self, node: NodeT) -> str:
        """Return the operator name of a node, as the keys of `meanings`."""

    def uses(self, value: ValueT) -> Iterable[tuple[NodeT, int]]:
        """Yield the consumers of a value, each with the position of the input."""

    def outputs(self, node: NodeT) -> Iterable[ValueT]:
        """Yield the output values of a node."""

    def constant(self, node: NodeT, position: int) -> NDArray[Any] | None:
        """Return the constant integers of an input; None if it is not constant or not an integer tensor."""

    def axis(self, node: NodeT) -> int | None:
        """Return the axis of a node, from its attribute or input; None if it is not constant."""

    def batch_dims(self, node: NodeT) -> int:
        """Return the number of batch dimensions of a node."""

    def sizes(self, node: NodeT, position: int) -> tuple[int, ...]:
        """Return the shape of an input, with the smallest size for open dimensions; () if the rank is unknown."""


def index_bounds(graph: IndexGraph[ValueT, NodeT], source: ValueT) -> Iterator[tuple[int, int]]:
    """Yield the valid interval of `source` (lowest, exclusive end) for each node that it reaches as indices."""
    seen: set[ValueT] = set()
    waiting = [(source, 0)]  # each value with the constant added so far
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


def _smallest_size(graph: IndexGraph[ValueT, NodeT], node: NodeT, indices: Indices) -> int:
    """Return the size of the axis that indices refer to; the smallest one if there are several."""
    if indices.along is Along.CLASSES:
        depth = one_number(graph.constant(node, 1))
        return _SMALLEST_DEPTH if depth is None else depth
    data = graph.sizes(node, 0)
    if indices.along is Along.COORDINATES:
        start, depth_of_tuples = graph.batch_dims(node), graph.sizes(node, indices.position)[-1:]
        reached = data[start : start + depth_of_tuples[0]] if depth_of_tuples else data
        return min(reached, default=1)
    axis = graph.axis(node)
    if axis is None:
        return min(data, default=1)
    return data[axis] if -len(data) <= axis < len(data) else 1


def _added(graph: IndexGraph[ValueT, NodeT], node: NodeT, operator: str, position: int) -> int:
    """Return the constant that a sum or difference adds to the input at this position; 0 if it is not one constant number."""
    number = one_number(graph.constant(node, 1 - position))
    if number is None or (operator in _DIFFERENCES and position == 1):
        return 0
    return -number if operator in _DIFFERENCES else number


def one_number(constant: NDArray[Any] | None) -> int | None:
    """Return the only element of a constant; None if there is no constant, or not one element."""
    return None if constant is None or constant.size != 1 else int(constant.reshape(()))


def _compared_with(row: NDArray[Any] | None, shift: int) -> Iterator[tuple[int, int]]:
    """Yield the range of a constant row that the input is compared with: Equal makes one-hot vectors of class numbers."""
    if row is not None and row.size > _SMALLEST_DEPTH:
        yield int(row.min()) - shift, int(row.max()) + 1 - shift
