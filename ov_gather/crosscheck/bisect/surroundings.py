"""What feeds a guilty node in its model."""

from __future__ import annotations

from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.graph.excerpts import Excerpt, ExcerptNode, excerpt
from ov_gather.graph.protocol import Key, Node


def surroundings(graph: ValueGraph, value: Key, equal: frozenset[Key]) -> Excerpt | None:
    """Return what feeds the node of an IR that computes a value, two steps back. Nodes with `equal` values are marked."""
    subject = graph.graph and graph.graph.producer(value)

    def describe(node: Node) -> ExcerptNode:
        first = node.outputs[0]
        titles = {"Parameter": ("input", node.name), "Const": ("constant", graph.label(first))}
        shape = graph.shapes.get(first)
        note = "" if shape is None else f"[{', '.join('?' if size < 0 else str(size) for size in shape)}]"
        mark = "failed" if node is subject else "passed" if equal.intersection(node.outputs) else ""
        return ExcerptNode(*titles.get(node.type, (node.type, node.name)), note, mark)

    return excerpt(graph.graph, subject, describe) if graph.graph and subject else None
