"""Faults of If whose branches return tensors of different ranks."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph


def _ranks(graph: PatternGraph, node: Node) -> Iterator[tuple[int | None, set[int | None]]]:
    """Yield the rank of each output, and those in the branches; None for an unknown rank and, in an IR, for a scalar."""
    for output in node.outputs:
        ends = [edge.inner for body in node.bodies for edge in body.exits if edge.outer == output]
        ranks = {graph.graph.shape_of(key).rank for key in ends}
        yield graph.graph.shape_of(output).rank, {rank or None for rank in ranks}


def _of_scalar(graph: PatternGraph, node: Node) -> bool:
    return (1, {1, None}) in _ranks(graph, node)


def _of_other_ranks(graph: PatternGraph, node: Node) -> bool:
    return any(len(ranks - {None}) > 1 for _, ranks in _ranks(graph, node))


_SAME = "return the same rank from both branches, by an Unsqueeze or a Reshape"

BRANCHES = (
    KnownFault(
        report="if_of_scalar_or_vector",
        types=("If",),
        occurs=_of_scalar,
        instead="If that returns a scalar from one branch, and a vector from the other, returns a vector of one element for it",
        remedy=_SAME,
        taints=True,
    ),
    KnownFault(
        report="if_of_other_ranks",
        types=("If",),
        occurs=_of_other_ranks,
        instead="If whose branches return tensors of different ranks is refused by compile_model",
        remedy=_SAME,
        effect=Effect.FATAL,
    ),
)
