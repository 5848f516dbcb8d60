"""Reuse of an earlier analysis of the same graph where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ov_gather.ranges import choices
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.graph import Graph, Key, Step

_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PreviousRun:
    """Results of an earlier analysis of the same graph.

    Attributes:
        graph: the graph of that analysis.
        known: its abstract value of each tensor.
        overflows: its bounds that exceed the types of tensors.
        changed: the names whose bounds or substitutes may differ now.
        names: cache of the names that each step depends on, by its first output.
    """

    graph: Graph
    known: Mapping[Key, Value]
    overflows: Mapping[Key, Any]
    changed: set[str]
    names: dict[Key, frozenset[str]] = field(default_factory=dict)

    def holds(self, step: Step, value: Callable[[Key], Value]) -> bool:
        """Return True if the outputs of a step are unchanged; `value` returns the current value of an input.

        A transfer function depends on its inputs, the declared outputs, and the bounds of the names in these. Not reusable are
        Select, whose refinement looks farther back, and operations with bodies, which may be analysed several times.
        """
        if step.bodies or step.type in choices.TYPES or any(key not in self.known for key in step.outputs):
            return False
        if any(key is not None and value(key) is not self.known.get(key) for key in step.inputs):
            return False
        return self.changed.isdisjoint(self._names_of(step))

    def _names_of(self, step: Step) -> frozenset[str]:
        if not step.outputs:
            return _NO_NAMES
        first = step.outputs[0]
        if first not in self.names:
            values = [self.known[key] for key in step.inputs if key is not None]
            values += [self.graph.declared(key) for key in step.outputs]
            self.names[first] = frozenset(name for value in values for name in _names(value))
        return self.names[first]


def _names(value: Value) -> Iterator[str]:
    for dim in value.shape or ():
        yield from _names_in(dim.terms)
    for interval in (value.elements, *(() if value.parts is None else value.parts.intervals)):
        yield from _names_of_interval(interval)


def _names_of_interval(interval: Interval) -> Iterator[str]:
    for bound in (*interval.lows, *interval.highs):
        yield from _names_in(bound.terms)


def _names_in(terms: tuple[tuple[tuple[str, ...], int], ...]) -> Iterator[str]:
    for monomial, _ in terms:
        yield from monomial
