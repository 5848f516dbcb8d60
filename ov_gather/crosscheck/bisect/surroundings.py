"""What feeds a guilty node in its model."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.graph.protocol import Key
from ov_gather.ir.excerpts import Excerpt, ExcerptNode, excerpt


def surroundings(graph: ValueGraph, value: Key, equal: frozenset[Key]) -> Excerpt:
    """Return what feeds the node that computes a value, two steps back. Nodes with `equal` values are marked."""
    names = {given: name for name, given in graph.inputs.items()}

    def key(given: Key) -> Key:
        """Return the first output of the node that computes a value, so that a node is drawn once."""
        node = graph.producers.get(given)
        return given if node is None else node.outputs[0]

    def describe(given: Key) -> ExcerptNode:
        node = graph.producers.get(given)
        if node is None:
            title = ("input", names[given]) if given in names else ("constant", graph.label(given))
        else:
            title = node.type, node.name
        values = (given,) if node is None else node.outputs
        mark = "failed" if given == key(value) else "passed" if equal.intersection(values) else ""
        return ExcerptNode(*title, _shape(graph, given), mark)

    def feeds(given: Key) -> Iterator[tuple[str, Key]]:
        node = graph.producers.get(given)
        yield from (("", key(source)) for source in (() if node is None else node.sources))

    return excerpt(key(value), describe, feeds)


def _shape(graph: ValueGraph, value: Key) -> str:
    shape = graph.shapes.get(value)
    return "" if shape is None else f"[{', '.join('?' if size < 0 else str(size) for size in shape)}]"
