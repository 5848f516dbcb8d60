"""Excerpts of a graph: a few nodes and the edges between them, to be drawn in reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Graph, Node
from ov_gather.ir.constants import constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port

_STEPS = 2
"""How far back from its subject an excerpt goes."""
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


def excerpt(
    graph: Graph,
    subject: Node,
    describe: Callable[[Node], ExcerptNode],
    operands: Sequence[str] = (),
) -> Excerpt:
    """Return the nodes that feed a node, up to two steps back.

    Args:
        describe: returns the record of a node.
        operands: the names of the inputs of the subject, if they are known.
    """
    positions, nodes, edges = {subject: 0}, [describe(subject)], list[ExcerptEdge]()
    front = [subject]
    for _ in range(_STEPS):
        further = []
        for target in front:
            labels = chain(operands if target is subject else (), repeat(""))
            feeds = zip(labels, target.inputs, strict=False)
            found = [(label, node) for label, key in feeds if key is not None and (node := graph.producer(key))]
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


def around(model: Model, layer: Layer, operands: Sequence[str]) -> Excerpt:
    """Return what feeds a layer that failed, two steps back. `operands` are the names of its inputs."""

    def describe(node: Node) -> ExcerptNode:
        return ExcerptNode(node.type, node.name, _note(model, node.handle), "failed" if node.handle is layer else "")

    graph = IrGraph(model)
    return excerpt(graph, graph.node(0, layer), describe, operands)


def _note(model: Model, layer: Layer) -> str:
    """Return the value of a small constant, or else the types and shapes of the outputs."""
    if layer.type == "Const" and layer.outputs and np.prod(layer.outputs[0].dims, dtype=float) <= _MAX_SHOWN:
        try:
            return str(constant(model, layer).tolist())
        except (IRError, OSError, ValueError):  # checked elsewhere
            pass
    return ", ".join(map(_outline, layer.outputs[:2])) + (", …" if len(layer.outputs) > 2 else "")


def _outline(port: Port) -> str:
    return f"{port.precision or '?'}[{', '.join('?' if dim < 0 else str(dim) for dim in port.dims)}]"
