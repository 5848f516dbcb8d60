"""Transposes that move axes of size 1 alone, of which OpenVINO makes Reshapes, and those that it moves behind reductions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ov_gather.graph.protocol import Node
from ov_gather.ir.shapes import Dimension
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.plugin.pattern_graph import LAYERS, PatternGraph
from ov_gather.plugin.removed import producer_before_removed

REDUCING = tuple(sorted(where(OPENVINO, lambda op: op.kind is OpKind.REDUCTION)))
PASSED = (*REDUCING, "Squeeze")
"""Operations behind which OpenVINO moves the Transpose that they read, Squeeze if its result is of an open shape."""
_ONE = Dimension.of(1)


@dataclass(frozen=True)
class Turn:
    """A Transpose as OpenVINO computes it: the sizes that it is given, its order, and the axes that are reduced before."""

    dims: Sequence[Dimension]
    order: Sequence[int]
    taken: Sequence[int]

    @property
    def made(self) -> list[Dimension]:
        """The sizes in the other order."""
        return [self.dims[axis] for axis in self.order]

    @property
    def target(self) -> list[int]:
        """The sizes of the Reshape that OpenVINO makes of it: 0 for one that it copies, and -1 for an open one."""
        return [0 if at == axis else size_of(self.dims[axis]) for at, axis in enumerate(self.order)]


def size_of(dim: Dimension) -> int:
    """Return a size; -1 for an open one."""
    return dim.lower if dim.is_static else -1


def turn_of(graph: PatternGraph, node: Node) -> Turn | None:
    """Return a Transpose that moves axes of size 1 alone, be it moved behind the last reduction or Squeeze that reads it."""
    turn = moved_behind(graph, node)
    if turn is None or not moves_ones_alone(turn.order, [dim == _ONE for dim in turn.dims]) or _is_joined(graph, node):
        return None
    return turn


def moved_behind(graph: PatternGraph, node: Node) -> Turn | None:
    """Return a Transpose, or the one that OpenVINO moves behind a reduction or Squeeze: Transposes before are one with it."""
    first, *passed = _joined(graph, node)
    dims, taken = graph.shape(first).dims, list[int]()
    if first.type != "Transpose" or not dims:
        return None
    order = list(range(len(dims)))
    for one in (first, *passed):
        numbers = graph.constant(one, 1)
        if numbers is None or (one.type == "Transpose" and numbers.size != len(order)):
            return None
        if one.type == "Transpose":
            order = [order[axis] for axis in numbers.ravel().tolist()]
            continue
        taken, order = behind(order, numbers.ravel().tolist(), one.is_set("keep_dims"))
        sizes = [_ONE if axis in taken else dim for axis, dim in enumerate(dims)]
        dims = tuple(dim for axis, dim in enumerate(sizes) if one.is_set("keep_dims") or axis not in taken)
    return Turn(dims, order, taken)


def _joined(graph: PatternGraph, node: Node) -> Sequence[Node]:
    """Return a node, and the Transposes, reductions and Squeezes before it that it alone reads, from the first Transpose on."""
    found = [node]
    while _may_join(graph, found[0]) and len(found) < LAYERS:
        before = producer_before_removed(graph, found[0], 0, "Convert")
        if before is None or not _may_join(graph, before) or not graph.only_node(before):
            break
        found.insert(0, before)
    return found[next((at for at, one in enumerate(found) if one.type == "Transpose"), 0) :]


def _is_joined(graph: PatternGraph, node: Node) -> bool:
    """Return True if only a Transpose, reduction or Squeeze reads a node: it is then that one that counts."""
    readers = graph.readers(node.outputs[0])
    return graph.only_node(node) and all(_may_join(graph, one) and graph.constant(one, 1) is not None for one in readers)


def _may_join(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Transpose or what it is moved behind, unless it is a Squeeze to a static shape: a Reshape by then."""
    return node.type in (*REDUCING, "Transpose") or (node.type == "Squeeze" and not graph.made(node).is_static)


def behind(order: Sequence[int], axes: Collection[int], is_kept: bool) -> tuple[list[int], list[int]]:
    """Return the axes that a reduction takes before a Transpose of an order rather than behind it, and the order then."""
    taken = sorted({order[axis] for axis in axes})
    kept = [axis for axis in range(len(order)) if is_kept or axis not in taken]
    return taken, [kept.index(axis) for axis in order if axis in kept]


def moves_ones_alone(order: Sequence[int], is_one: Sequence[bool]) -> bool:
    """Return True if an order of axes moves axes of size 1 alone: OpenVINO makes a Reshape of such a Transpose."""
    kept = [axis for axis in order if not is_one[axis]]
    return list(order) != sorted(order) and kept == sorted(kept)
