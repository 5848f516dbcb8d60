"""7xx: known faults of OpenVINO that a model meets by its structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING

from ov_gather.ir.model import Layer, Model
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.known.base import Effect, KnownFault
from ov_gather.rules.known.pattern_graph import PatternGraph
from ov_gather.rules.known.register import BY_TYPE
from ov_gather.rules.releases import RELEASES, is_before

if TYPE_CHECKING:
    from ov_gather.graph.protocol import Key
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

    def _bounds(self, number: int, layer: Layer, position: int) -> tuple[float, float]:
        """Return the least and the greatest integer of an input of a layer, in the graph of this number."""
        key = self._key(number, layer, position)
        if key is None:
            return -inf, inf
        elements = self._analysis.value(key).elements
        return float(elements.low), float(elements.high)

    def _is_chosen(self, number: int, layer: Layer, position: int, axis: int) -> bool:
        """Return True if the size of an axis of an input of a layer is an open one of an input of the model or the body."""
        from ov_gather.ranges.algebra.polynomials import Polynomial
        from ov_gather.ranges.inequalities import is_dynamic_dim

        key = self._key(number, layer, position)
        shape = None if key is None else self._analysis.value(key).shape
        given = tuple(f"dim({one.name}#{number}.{one.id}." for one in self._graphs[number].of_type("Parameter"))
        size = None if shape is None else shape[axis]
        chosen = [name for name in (size.names if size else ()) if is_dynamic_dim(name) or name.startswith(given)]
        return any(size == Polynomial.name(name) for name in chosen)

    def _key(self, number: int, layer: Layer, position: int) -> Key | None:
        source = self._graphs[number].producer(layer, layer.inputs[position])
        return source and (number, source[0].id, source[1].id)

    @cached_property
    def _analysis(self) -> Analysis:
        """The ranges of what the layers read that may meet a fault for some values."""
        from ov_gather.graph.ir import IrGraph
        from ov_gather.ranges.analysis import Assumption, analyse  # imported late: few models need it
        from ov_gather.ranges.graph import AnalysedGraph, in_order
        from ov_gather.ranges.rules.call import CPU_PLUGIN

        types = {layer_type for layer_type, faults in BY_TYPE.items() if any(one.effect is Effect.DEPENDS for one in faults)}
        keys = [
            self._key(number, layer, position)
            for number, graph in enumerate(self._graphs)
            for layer in graph.of_type(*types)
            for position in range(len(layer.inputs))
        ]
        graph = AnalysedGraph(IrGraph(self.model))
        return analyse(graph, in_order(graph, [key for key in keys if key]), CPU_PLUGIN, Assumption())

    @cached_property
    def _graphs(self) -> list[Model]:
        return [graph for _, graph in self.model.walk()]

    def meets(self, effect: Effect) -> Iterator[tuple[KnownFault, Layer, tuple[str, ...]]]:
        """Yield the faults of this release with this effect, the layers that meet them, and the way to these."""
        for number, (path, graph) in enumerate(self.model.walk()):
            found = [
                (fault, layer)
                for (layer_type, _), layers in graph.kinds.items()
                for fault in BY_TYPE.get(layer_type, ())
                if fault.effect is effect and self._has(fault)
                for layer in layers
                if len(layer.inputs) >= fault.operands
            ]
            within = PatternGraph(graph, partial(self._bounds, number), partial(self._is_chosen, number))
            yield from ((fault, layer, path) for fault, layer in found if _occurs(fault, within, layer))

    def _has(self, fault: KnownFault) -> bool:
        starts = not fault.since or not is_before(self.release, fault.since)
        return starts and (not fault.before or is_before(self.release, fault.before))


def _occurs(fault: KnownFault, graph: PatternGraph, layer: Layer) -> bool:
    try:
        return fault.occurs(graph, layer)
    # Attributes or constants that make no sense, for which OpenVINO refuses the model.
    except (ArithmeticError, LookupError, ValueError):
        return False


def _violations(executed: Executed, effect: Effect) -> Iterator[Violation]:
    for fault, layer, path in executed.meets(effect):
        message = f"{fault.instead} (OpenVINO {executed.release})"
        yield Violation.at(layer, message, fault.hint, subgraph_path=path)


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
