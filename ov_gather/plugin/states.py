"""Faults of states that last from one inference to the next."""

from __future__ import annotations

from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph

_REFUSED = ("i16", "u16", "u32", "i64", "u64", "f64")


def _is_refused(graph: PatternGraph, node: Node) -> bool:
    return bool(node.outputs) and graph.made_type(node) in _REFUSED


STATES = (
    KnownFault(
        report="i64_state",
        types=("ReadValue",),
        occurs=_is_refused,
        operands=0,
        instead="a model whose state has 64-bit or unsigned integers cannot be executed",
        remedy="let the state have i32 or f32, and convert around it",
        effect=Effect.FATAL,
    ),
)
