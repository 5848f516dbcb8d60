"""What one run of the analysis has found out holds in another run where nothing that it depends on differs."""

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
class Earlier:
    """An Earlier is an earlier run.

    Attributes:
        graph: the graph as that run saw it.
        known: what it knew of each tensor.
        overflows: the bounds that did not fit in the types of tensors.
        changed: the names whose bounds or whose meaning may be others now.
        names: the names that each step depends on, by its first output, as far as they were asked for.
    """

    graph: Graph
    known: Mapping[Key, Value]
    overflows: Mapping[Key, Any]
    changed: set[str]
    names: dict[Key, frozenset[str]] = field(default_factory=dict)

    def holds(self, step: Step, value: Callable[[Key], Value]) -> bool:
        """Whether the outputs of a step are what they were. `value` gives what is known of its inputs now.

        A rule is a function of its inputs, of the declared outputs and of the bounds of the names in these. What chooses
        looks farther back, and bodies may be gone through several times.
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
