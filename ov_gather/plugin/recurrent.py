"""Faults of LSTMSequence, GRUSequence and RNNSequence."""

from __future__ import annotations

from ov_gather.graph.protocol import LOOPS, Node
from ov_gather.ops.index_table import OPENVINO_INDICES
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph


def _ignores_lengths(graph: PatternGraph, node: Node) -> bool:
    """Return True in a loop, and if a size of the data is open, unless lengths are computed of sizes, as whole ones are."""
    if graph.shape(node).is_static and not any(one.startswith(LOOPS) for one in node.path):
        return False
    (lengths,) = OPENVINO_INDICES[node.type]
    return not any(one.type == "ShapeOf" for one in graph.origins(node, lengths.port, sizes=True))


RECURRENT = (
    KnownFault(
        report="sequence_lengths_ignored",
        types=("GRUSequence", "LSTMSequence", "RNNSequence"),
        occurs=_ignores_lengths,
        operands=6,
        instead="in a loop, or if a size of data is open, lengths are ignored: states go on behind the end of a sequence",
        remedy="declare the sizes, or use a Loop over a cell that keeps its states behind the end",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
)
