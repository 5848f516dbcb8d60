"""7xx: known faults of OpenVINO that a model meets by its structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Node
from ov_gather.ir.model import Model
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph
from ov_gather.plugin.register import BY_TYPE
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.releases import RELEASES, is_before

if TYPE_CHECKING:
    from ov_gather.ranges.analysis import Analysis

RULE_OF = {Effect.WRONG: "OVG710", Effect.FATAL: "OVG711", Effect.DEPENDS: "OVG712"}
"""The rule that reports the faults with an effect."""


@dataclass(frozen=True)
class Executed:
    """A whole model, and the release that shall execute it; is_named is False if it is only the newest one known."""

    model: Model
    release: str
    is_named: bool

    @classmethod
    def by(cls, model: Model, release: str) -> Executed:
        """Return the model with the release of that name, or with the newest known one if the name is empty."""
        return cls(model, release or RELEASES[-1], bool(release))

    def _bounds(self, node: Node, position: int) -> tuple[float, float]:
        """Return the least and the greatest integer of an input of a node."""
        key = node.inputs[position]
        if key is None:
            return -inf, inf
        elements = self._analysis.value(key).elements
        return float(elements.low), float(elements.high)

    def _is_chosen(self, node: Node, position: int, axis: int) -> bool:
        """Return True if the size of an axis of an input of a node is an open one of an input of the model or the body."""
        from ov_gather.ranges.algebra.polynomials import Polynomial
        from ov_gather.ranges.inequalities import is_dynamic_dim

        key = node.inputs[position]
        shape = None if key is None else self._analysis.value(key).shape
        size = None if shape is None else shape[axis]
        given = {
            self._graph.size_name(one.outputs[0], number)
            for one in self._graph.nodes("Parameter")
            if one.path == node.path
            for number in range(len(self._graph.shape_of(one.outputs[0]).dims or ()))
        }
        chosen = [name for name in (size.names if size else ()) if is_dynamic_dim(name) or name in given]
        return any(size == Polynomial.name(name) for name in chosen)

    @cached_property
    def _graph(self) -> IrGraph:
        return IrGraph(self.model)

    @cached_property
    def _analysis(self) -> Analysis:
        """The ranges of what the nodes read that may meet a fault for some values."""
        from ov_gather.ranges.analysis import Assumption, analyse  # imported late: few models need it
        from ov_gather.ranges.graph import AnalysedGraph, in_order
        from ov_gather.ranges.rules.call import CPU_PLUGIN

        keys = [key for node in self._graph.nodes(*_types(Effect.DEPENDS)) for key in node.inputs if key is not None]
        graph = AnalysedGraph(self._graph)
        return analyse(graph, in_order(graph, keys), CPU_PLUGIN, Assumption())

    def meets(self, effect: Effect) -> Iterator[tuple[KnownFault, Node]]:
        """Yield the faults of this release with this effect, and the nodes that meet them."""
        within = PatternGraph(self._graph, self._bounds, self._is_chosen)
        for node in self._graph.nodes(*_types(effect)):
            for fault in BY_TYPE[node.type]:
                is_possible = fault.effect is effect and len(node.inputs) >= fault.operands and self._has(fault)
                if is_possible and _occurs(fault, within, node):
                    yield fault, node

    def _has(self, fault: KnownFault) -> bool:
        starts = not fault.since or not is_before(self.release, fault.since)
        return starts and (not fault.before or is_before(self.release, fault.before))


def _types(effect: Effect) -> list[str]:
    """Return the types of the nodes that may meet faults with this effect."""
    return [node_type for node_type, faults in BY_TYPE.items() if any(fault.effect is effect for fault in faults)]


def _occurs(fault: KnownFault, graph: PatternGraph, node: Node) -> bool:
    try:
        return fault.occurs(graph, node)
    # Attributes or constants that make no sense, for which OpenVINO refuses the model.
    except (ArithmeticError, LookupError, ValueError):
        return False


def _violations(executed: Executed, effect: Effect) -> Iterator[Violation]:
    for fault, node in executed.meets(effect):
        message = f"{fault.instead} (OpenVINO {executed.release})"
        yield Violation.at(node.handle, message, fault.hint, subgraph_path=node.path)


@rule("OVG710", Executed, Severity.WARNING)
def known_wrong_result(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin computes wrong results for a layer, by a known fault.

    The finding says what comes out instead, and how to write the model so that it is right; a report with a reproducer is in
    docs/evidence/upstream/. With --target, the faults are those of that release, else those of the newest one known.
    """
    yield from _violations(executed, Effect.WRONG)


@rule("OVG711", Executed, Severity.WARNING)
def known_crash(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin ends the process at a layer, or refuses the model, by a known fault.

    The finding says how to write the model so that it can be executed; a report with a reproducer is in
    docs/evidence/upstream/. With --target, the faults are those of that release, else those of the newest one known.
    """
    yield from _violations(executed, Effect.FATAL)


@rule("OVG712", Executed, Severity.NOTE, unless=lambda executed: not executed.is_named)
def known_for_some_inputs(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin computes wrong results for a layer for some values or sizes of inputs, by a known fault.

    Examples are integers beyond 2^24 that are computed in float32, and axes that may be empty. Range analysis leaves out layers
    whose integers are small for every input. Declare what is known of the inputs, or follow the hint. This rule runs only with
    --target.
    """
    yield from _violations(executed, Effect.DEPENDS)
