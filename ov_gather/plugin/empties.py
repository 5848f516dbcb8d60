"""Faults of tensors without elements, and of shapes without sizes."""

from __future__ import annotations

from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph


def _by_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True if the second input, sizes or repeats, has no elements."""
    sizes = graph.shape(node, 1)
    return sizes.is_static and sizes.sizes == (0,)


def _to_scalar(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Broadcast by no sizes; a folded one of a scalar is right, unless it is an output of the model."""
    if not _by_nothing(graph, node):
        return False
    if graph.origins(node, 1):
        return graph.shape(node).rank == 0 and graph.is_output(node)
    return node.attributes.get("mode") == "bidirectional"


EMPTIES = (
    KnownFault(
        report="broadcast_by_no_sizes",
        types=("Broadcast",),
        occurs=_to_scalar,
        operands=2,
        instead="Broadcast by a shape without sizes is refused, or ends the process",
        remedy="use its input instead",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="tile_by_no_repeats",
        types=("Tile",),
        occurs=_by_nothing,
        operands=2,
        instead="Tile of a scalar by no repeats is uninitialized memory, or ends the process",
        remedy="use its input instead",
        taints=True,
        converter="avoids",
    ),
)
