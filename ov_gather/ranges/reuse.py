"""Reuse of an earlier analysis of the same graph where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ov_gather.graph.protocol import Key, Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ranges import choices
from ov_gather.ranges.algebra.polynomials import symbols_within
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.graph import AnalysedGraph


@dataclass(frozen=True)
class PreviousRun:
    """Results of an earlier analysis of the same graph.

    Attributes:
        graph: the graph of that analysis.
        known: its abstract value of each tensor.
        evaluated: the steps that it has evaluated, by first output. It knows other outputs only as declared.
        overflows: its bounds that exceed the types of tensors.
        changed: the symbols whose bounds or substitutes may differ now.
        anew: the tensors of whose elements other bounds are assumed now.
        symbols: cache of the symbols that each step depends on, by its first output.
        kept: the same cache of the new analysis, which gets the symbols of unchanged steps; None if its graph differs.
    """

    graph: AnalysedGraph
    known: Mapping[Key, Value]
    evaluated: Container[Key]
    overflows: Mapping[Key, Any]
    changed: set[Symbol]
    anew: set[Key] = field(default_factory=set)
    symbols: dict[Key, frozenset[Symbol]] = field(default_factory=dict)
    kept: dict[Key, frozenset[Symbol]] | None = None

    def holds(self, step: Node, value: Callable[[Key], Value]) -> bool:
        """Return True if the outputs of a step are unchanged; `value` returns the current value of an input.

        A transfer function depends on its inputs, the declared outputs, and the bounds of the symbols in these. The symbols in
        its results count, too: an earlier visit of a loop body may have set other bounds for one that the step introduces.
        Not reusable are Select, whose refinement looks farther back, and operations with bodies, whose steps are reused.
        """
        if step.bodies or step.type in choices.TYPES:
            return False
        known = self.known  # loops, because generators would cost as much as the rest of an analysis that reuses most
        if step.outputs and step.outputs[0] not in self.evaluated:
            return False
        if self.anew and not self.anew.isdisjoint(step.outputs):
            return False
        for key in step.inputs:
            if key is not None and value(key) is not known.get(key):
                return False
        if not step.outputs:
            return True
        symbols = self._symbols_of(step)
        if not self.changed.isdisjoint(symbols):
            return False
        if self.kept is not None:
            self.kept[step.outputs[0]] = symbols
        return True

    def _symbols_of(self, step: Node) -> frozenset[Symbol]:
        first = step.outputs[0]
        if first not in self.symbols:
            values = [self.known[key] for key in step.sources]
            values += [value for key in step.outputs for value in (self.graph.declared(key), self.known[key])]
            self.symbols[first] = frozenset(symbol for value in values for symbol in _symbols(value))
        return self.symbols[first]


def _symbols(value: Value) -> Iterator[Symbol]:
    bounds = chain(value.shape or (), *(interval.lows + interval.highs for interval in value.intervals))
    return (symbol for bound in bounds for symbol in symbols_within(bound))
