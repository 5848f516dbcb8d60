"""The known faults that a graph meets, by its structure and by what range analysis knows of its integers and sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from ov_gather.graph.protocol import Body, Graph, Key, Node
from ov_gather.graph.symbols import OfInputs
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import Known, PatternGraph
from ov_gather.plugin.register import BY_TYPE

if TYPE_CHECKING:
    from ov_gather.ranges.analysis import Analysis


_EXACT = 1 << 24
"""Integers up to this one are exact in float32."""
_WITH_BODIES = where(OPENVINO, lambda op: op.kind is OpKind.BODY)


class FaultFinder:
    """Finds the faults of a graph. The analysis runs if a fault asks for it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._patterns = PatternGraph(graph, _FromRanges(graph))

    def found(self, faults: Collection[KnownFault]) -> Iterator[tuple[KnownFault, Node]]:
        """Yield those of some faults that nodes meet, with the nodes, bodies included."""
        wanted = {fault.report for fault in faults if not fault.beside or any(self._graph.nodes(*fault.beside))}
        by_type = {node_type: [one for one in known if one.report in wanted] for node_type, known in BY_TYPE.items()}
        alike = dict[frozenset[str], list[str]]()  # node types by the element types that matter, so that few nodes are made
        for node_type, known in by_type.items():
            element_types = [one.element_types for one in known]
            if known:
                alike.setdefault(frozenset(chain(*element_types) if all(element_types) else ()), []).append(node_type)
        for of, types in alike.items():
            for node in self._graph.nodes(*types, of=of):
                met = [fault for fault in by_type[node.type] if fault.is_met(self._patterns, node)]
                if met and not self._is_dropped(node):
                    yield from ((fault, node) for fault in met)

    def _is_dropped(self, node: Node) -> bool:
        return node.within is not None and any(key in self._dropped for key in (*node.outputs, *node.sources))

    @cached_property
    def _dropped(self) -> Collection[Key]:
        """The tensors in branches that OpenVINO drops, as it computes the condition of the If while it compiles the model."""
        waiting = [body for node in _choosing(self._graph) for body in self._never_taken(node)]
        found: set[Key] = set()
        while waiting:
            for node in self._graph.nodes_in(waiting.pop()):
                found.update(node.outputs)
                waiting += node.bodies
        return found

    def _never_taken(self, node: Node) -> list[Body]:
        if not self._patterns.is_folded(node, 0):
            return []
        low, high = self._patterns.known.bounds(node, 0)
        return [body for body in node.bodies if low == high == (body.condition is False)]


def _choosing(graph: Graph) -> list[Node]:
    """Return the nodes that choose one of their bodies."""
    return [node for node in graph.nodes(*_WITH_BODIES) if any(body.condition is not None for body in node.bodies)]


class _FromRanges(Known):
    """What range analysis knows of the numbers of a graph. It runs when it is asked first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def bounds(self, node: Node, position: int) -> tuple[float, float]:
        """Return the least and the greatest integer of an input of a node."""
        key = node.inputs[position]
        if key is None:
            return -inf, inf
        elements = self._analysis.value(key).elements
        return float(elements.low), float(elements.high)

    def is_small(self, node: Node, position: int) -> bool:
        """Return True if the integers of an input of a node are exact in float32. Sizes of tensors are taken to be."""
        from ov_gather.ranges.algebra.values import are_exact

        key = node.inputs[position]
        if key is None or key in self._inputs:
            return False
        numbers = self._graph.constant(key)
        if numbers is not None and numbers.size:  # most comparisons are with constants; the analysis takes much longer
            return bool((numbers >= -_EXACT).all() and (numbers <= _EXACT).all())
        return are_exact(self._analysis.algebra, self._analysis.value(key).elements, _EXACT)

    def is_chosen(self, node: Node, position: int, axis: int) -> bool:
        """Return True if the size of an axis of an input of a node is an open one of an input of the model or the body."""
        from ov_gather.ranges.algebra.polynomials import Polynomial

        key = node.inputs[position]
        shape = None if key is None else self._analysis.value(key).shape
        size = None if shape is None else shape[axis]
        given = {
            self._graph.size_symbol(one.outputs[0], number)
            for one in self._graph.nodes("Parameter")
            if one.path == node.path
            for number in range(len(self._graph.shape_of(one.outputs[0]).dims or ()))
        }
        chosen = [one for one in (size.symbols if size else ()) if isinstance(one, OfInputs) or one in given]
        return any(size == Polynomial.symbol(one) for one in chosen)

    @cached_property
    def _inputs(self) -> Collection[Key]:
        return set(self._graph.inputs.values())

    @cached_property
    def _analysis(self) -> Analysis:
        """The ranges of what the nodes read that may meet a fault for some values, and of what chooses branches."""
        from ov_gather.ranges.analysis import Assumption, analyse  # imported late: few models need it
        from ov_gather.ranges.graph import AnalysedGraph, in_order
        from ov_gather.ranges.rules.call import CPU_PLUGIN

        types = [one for one, faults in BY_TYPE.items() if any(fault.effect is Effect.DEPENDS for fault in faults)]
        nodes = (*self._graph.nodes(*types), *_choosing(self._graph))
        keys = [key for node in nodes for key in node.inputs if key is not None]
        graph = AnalysedGraph(self._graph)
        return analyse(graph, in_order(graph, keys), CPU_PLUGIN, Assumption())
