"""Excerpts of a graph: a few nodes and the edges between them, to be drawn in reports."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ov_gather.ir.constants import constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port

_STEPS = 2
_MAX_FEEDS = 4
"""Number of operands drawn per node; the others are counted."""
_MAX_NAME = 100
"""Names are cut to this length in sentences, because a hostile document may have longer ones."""
_MAX_SHOWN = 4
"""Number of elements up to which the value of a constant is shown."""


@dataclass(frozen=True, slots=True)
class ExcerptNode:
    """A node of an excerpt.

    Attributes:
        type, name: of the operation.
        note: what is known of its result: type and shape, the value of a constant, or bounds.
        mark: how to draw it: "" or a word of the report, such as "failed" or "passed".
    """

    type: str
    name: str
    note: str = ""
    mark: str = ""

    def __str__(self) -> str:
        type_, name = self.type[:_MAX_NAME], self.name[:_MAX_NAME]
        return f"{type_} '{name}'" if name else type_


@dataclass(frozen=True, slots=True)
class ExcerptEdge:
    """An edge between nodes, by their positions in the excerpt; `label` is the name of the operand, if it is known."""

    source: int
    target: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a graph. The first node is the one that it is about; the others feed it, directly or not."""

    nodes: tuple[ExcerptNode, ...]
    edges: tuple[ExcerptEdge, ...]


NodeKey = TypeVar("NodeKey", bound=Hashable)


def excerpt(
    subject: NodeKey,
    describe: Callable[[NodeKey], ExcerptNode],
    feeds: Callable[[NodeKey], Iterable[tuple[str, NodeKey]]],
    steps: int = _STEPS,
) -> Excerpt:
    """Return the nodes that feed a node, up to this many steps back.

    Args:
        describe: returns the record of a node.
        feeds: returns the nodes whose results a node uses, each with the name of the operand.
    """
    positions, nodes, edges = {subject: 0}, [describe(subject)], list[ExcerptEdge]()
    front = [subject]
    for _ in range(steps):
        further = []
        for target in front:
            found = list(feeds(target))
            for label, source in found[:_MAX_FEEDS]:
                if source not in positions:
                    positions[source] = len(nodes)
                    nodes.append(describe(source))
                    further.append(source)
                edges.append(ExcerptEdge(positions[source], positions[target], label))
            if len(found) > _MAX_FEEDS:
                edges.append(ExcerptEdge(len(nodes), positions[target]))
                nodes.append(ExcerptNode(f"and {len(found) - _MAX_FEEDS} more", ""))
        front = further
    return Excerpt(tuple(nodes), tuple(edges))


def around(graph: Model, layer: Layer, operands: Sequence[str]) -> Excerpt:
    """Return what feeds a layer that failed, two steps back. `operands` are the names of its inputs."""

    def describe(layer_id: int) -> ExcerptNode:
        found = graph.layer_by_id[layer_id]
        return ExcerptNode(found.type, found.name, _note(graph, found), "failed" if layer_id == layer.id else "")

    def feeds(layer_id: int) -> Iterable[tuple[str, int]]:
        found = graph.layer_by_id[layer_id]
        for position, port in enumerate(found.inputs):
            source = graph.producer(found, port)
            if source is not None:
                yield operands[position] if found is layer and position < len(operands) else "", source[0].id

    return excerpt(layer.id, describe, feeds)


def _note(graph: Model, layer: Layer) -> str:
    """Return the value of a small constant, or else the types and shapes of the outputs."""
    if layer.type == "Const" and layer.outputs and np.prod(layer.outputs[0].dims, dtype=float) <= _MAX_SHOWN:
        try:
            return str(constant(graph, layer).tolist())
        except (IRError, OSError, ValueError):  # checked elsewhere
            pass
    return ", ".join(map(_outline, layer.outputs[:2])) + (", …" if len(layer.outputs) > 2 else "")


def _outline(port: Port) -> str:
    return f"{port.precision or '?'}[{', '.join('?' if dim < 0 else str(dim) for dim in port.dims)}]"
