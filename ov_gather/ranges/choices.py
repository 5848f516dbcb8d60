"""Where a comparison chooses an element, more is known of it: what is compared lies on the side that chooses it.

Of `Select(Less(n, 8), n, f(n))` the elements of f(n) that are chosen are those of an n of 8 or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.values import Parts, Value, is_integer
from ov_gather.ranges.folding import results_of
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.rules.call import Call, Semantics

TYPES = frozenset(("Select", "Where"))
"""The operations that choose, in OpenVINO and ONNX."""
_IS_LESS = {
    "Less": True,
    "LessEqual": True,
    "LessOrEqual": True,
    "Greater": False,
    "GreaterEqual": False,
    "GreaterOrEqual": False,
}
"""Whether a comparison asks for the first operand to be the smaller one."""
_IS_STRICT = frozenset(("Less", "Greater"))
_CASTS = frozenset(("Cast", "Convert"))
_ARITHMETIC = """
    Abs Add Ceil Ceiling Clamp Clip Div Divide Floor FloorMod Log Max Maximum Min Minimum Mod Mul Multiply Neg Negative Relu
    ReLU Round Sign Sqrt Sub Subtract
"""
_BY_ELEMENT = _CASTS.union(_ARITHMETIC.split())
"""Each element of their output is computed of the elements at its place alone."""
LONGEST = 24
"""So many operations at most are gone through again for one choice."""


@dataclass(frozen=True)
class Choices:
    """Choices look at what leads to the operands of an operation that chooses.

    Attributes:
        value: gives what is known of a tensor.
        settled: gives what remains of what a rule says of an output, in the type and shape that are declared.
    """

    graph: Graph
    algebra: Algebra
    semantics: Semantics
    value: Callable[[Key], Value]
    settled: Callable[[Value, Value], Value]

    def operands(self, step: Step) -> list[Value | None]:
        """Give the operands of an operation that chooses: those that are chosen with all that is known then."""
        known = [None if key is None else self.value(key) for key in step.inputs]
        if len(known) != 3 or None in known:
            return known
        comparison = self._comparison(step.inputs[0])
        if comparison is None:
            return known
        for position, is_true in ((1, True), (2, False)):
            key, value = step.inputs[position], known[position]
            facts = dict(self._facts(comparison, is_true=is_true))
            again = self._again(key, facts) if facts and key is not None else None
            if again is not None and value is not None:
                known[position] = self._both(value, again)
        return known

    def _comparison(self, key: Key | None) -> Step | None:
        """Find the comparison that a condition is, behind conversions: every type has 0 and 1."""
        step = None if key is None else self.graph.step_of(key)
        while step is not None and step.type in _CASTS and step.inputs[0] is not None:
            step = self.graph.step_of(step.inputs[0])
        is_known = step is not None and step.rule is not None and step.type in _IS_LESS and len(step.inputs) == 2
        return step if is_known else None

    def _facts(self, comparison: Step, *, is_true: bool) -> Iterator[tuple[Key, Value]]:
        """Yield what is known of the operands of a comparison where it is true, or not."""
        one, other = comparison.inputs
        if one is None or other is None or not (self._is_exact(one) and self._is_exact(other)):
            return
        is_strict = (comparison.type in _IS_STRICT) is is_true
        less, greater = (one, other) if _IS_LESS[comparison.type] is is_true else (other, one)
        gap = self.algebra.exact(int(is_strict))
        most = self.algebra.subtract(self.value(greater).elements, gap)
        least = self.algebra.add(self.value(less).elements, gap)
        exact = self.semantics.exact_integers
        if abs(most.high) <= exact:
            yield from self._narrowed(less, Interval(-inf, most.high, (), most.highs))
        if abs(least.low) <= exact:
            yield from self._narrowed(greater, Interval(least.low, inf, least.lows))

    def _is_exact(self, key: Key) -> bool:
        """Whether elements are integers of which a comparison sees what other operations see."""
        value = self.value(key)
        return is_integer(value.element_type) and value.element_type is not BOOLEAN and not self.semantics.narrows(value)

    def _narrowed(self, key: Key, bound: Interval) -> Iterator[tuple[Key, Value]]:
        value = self.value(key)
        elements = self.algebra.both(value.elements, bound)
        if elements != value.elements and elements.low <= elements.high:
            yield key, replace(value, elements=elements, parts=None)

    def _again(self, wanted: Key, facts: Mapping[Key, Value]) -> Value | None:
        """Compute an operand again from what is known where it is chosen; None where it does not depend on that."""
        known = dict(facts)
        for step in self._steps_between(wanted, facts):
            if step.rule is None or not any(key in known for key in step.inputs):
                continue
            inputs = [None if key is None else known.get(key) or self.value(key) for key in step.inputs]
            declared = [self.graph.declared(output) for output in step.outputs]
            found = results_of(self.graph, step, Call(self.algebra, self.semantics, inputs, declared))
            known |= {key: self.settled(told, value) for key, told, value in zip(step.outputs, declared, found, strict=False)}
        return known.get(wanted)

    def _steps_between(self, wanted: Key, facts: Mapping[Key, Value]) -> list[Step]:
        """List operations that compute element by element and lead to a tensor, each behind those that feed it."""
        found: dict[Key, Step] = {}
        seen: set[Key] = set(facts)
        waiting = [(wanted, False)]
        while waiting and len(seen) <= LONGEST:
            key, is_ready = waiting.pop()
            step = self.graph.step_of(key)
            if step is None or step.type not in _BY_ELEMENT or (key in seen and not is_ready):
                continue
            if is_ready:
                found[key] = step
                continue
            seen.add(key)
            waiting.append((key, True))
            waiting += [(given, False) for given in step.inputs if given is not None]
        return [] if waiting else list(found.values())

    def _both(self, value: Value, again: Value) -> Value:
        """Keep what is known of a tensor anyway, and what is known of those of its elements that are chosen."""

        def narrowed(one: Interval) -> Interval:
            both = self.algebra.both(one, again.elements)
            return both if both.low <= both.high else again.elements  # of a slice none of whose elements is chosen

        parts = None
        if value.parts is not None:
            parts = Parts(value.parts.axis, tuple(narrowed(part) for part in value.parts.intervals))
        elements = narrowed(value.elements)
        return replace(value, elements=elements, parts=parts, may_be_nan=value.may_be_nan and again.may_be_nan)
