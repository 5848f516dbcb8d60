"""Faults of If whose branches return tensors of different ranks, or open shapes."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.graph.protocol import Key, Node
from ov_gather.ops.table import OPENVINO, where
from ov_gather.plugin.base import REAL, Effect, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, VIEWS, PatternGraph

_WINDOWS = where(OPENVINO, lambda op: op.rule in ("convolution", "group_product", "pool"))
"""Operations for which the CPU plugin may order elements by channels."""
_PASSED = where(OPENVINO, lambda op: op.by_element) | {*VIEWS}
"""Operations that may be between an If and one of them."""


def _ranks(graph: PatternGraph, node: Node) -> Iterator[tuple[int | None, set[int | None]]]:
    """Yield the rank of each output, and those in the branches; None for an unknown rank and, in an IR, for a scalar."""
    for output in node.outputs:
        ends = [edge.inner for body in node.bodies for edge in body.exits if edge.outer == output]
        ranks = {graph.graph.shape_of(key).rank for key in ends}
        yield graph.graph.shape_of(output).rank, {rank or None for rank in ranks}


def _of_scalar(graph: PatternGraph, node: Node) -> bool:
    return (1, {1, None}) in _ranks(graph, node)


def _of_other_ranks(graph: PatternGraph, node: Node) -> bool:
    """Return True if an output has no rank. It has that of one branch if OpenVINO knows the condition, and drops the other."""
    return any(rank is None and len(ranks - {None}) > 1 for rank, ranks in _ranks(graph, node))


def _before_windows(graph: PatternGraph, node: Node) -> bool:
    return any(_reaches_window(graph, output) for output in node.outputs if not graph.graph.shape_of(output).is_static)


def _reaches_window(graph: PatternGraph, key: Key) -> bool:
    """Return True if a tensor, and what is computed of its elements, is read once each, and last by a window."""
    for _ in range(LAYERS):
        readers = graph.readers(key)
        if len(readers) != 1 or str(graph.graph.type_of(key) or "") not in REAL:
            return False
        if readers[0].type in _WINDOWS:
            return graph.source(readers[0]) == key
        if readers[0].type not in _PASSED:
            return False
        key = readers[0].outputs[0]
    return False


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
    KnownFault(
        report="if_before_pool",
        types=("If",),
        occurs=_before_windows,
        instead="the first inference reads uninitialised memory in pools and convolutions of what If returns in an open shape",
        remedy="copy the result of the If, by a Broadcast to its own shape",
        taints=True,
        converter="avoids",
    ),
)
