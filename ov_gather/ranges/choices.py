"""Refinement of the operands of Select by the comparison that selects them.

In `Select(Less(n, 8), n, f(n))` the elements of f(n) that are selected have n >= 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.values import Value, is_integer
from ov_gather.ranges.folding import results_of
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.rules.call import Operands, Semantics

TYPES = frozenset(("Select", "Where"))
"""The selecting operations of OpenVINO and ONNX."""
_IS_LESS = {
    **dict.fromkeys(("Less", "LessEqual", "LessOrEqual"), True),
    **dict.fromkeys(("Greater", "GreaterEqual", "GreaterOrEqual"), False),
}
"""Comparisons of two operands; True if the first is the smaller one where they hold."""
_IS_STRICT = frozenset(("Less", "Greater"))
_CASTS = frozenset(("Cast", "Convert"))
_ARITHMETIC = """
    Abs Add Ceil Ceiling Clamp Clip Div Divide Floor FloorMod Log Max Maximum Min Minimum Mod Mul Multiply Neg Negative Relu
    ReLU Round Sign Sqrt Sub Subtract
"""
_BY_ELEMENT = _CASTS.union(_ARITHMETIC.split())
"""Operations that compute each element of the output from the elements at the same position."""
LONGEST = 24
"""Maximum number of tensors visited to refine one operand."""


@dataclass(frozen=True)
class BranchRefinement:
    """Refinement of the operands of Select.

    Attributes:
        value: returns the abstract value of a tensor.
        fitted: fits a computed value to the declared type and shape of an output.
    """

    graph: Graph
    algebra: Algebra
    semantics: Semantics
    value: Callable[[Key], Value]
    fitted: Callable[[Value, Value], Value]

    def operands(self, step: Step) -> list[Value | None]:
        """Return the operands of a Select, refined by the condition under which each is selected."""
        known = [None if key is None else self.value(key) for key in step.inputs]
        if len(known) != 3 or None in known:
            return known
        comparison = self._comparison(step.inputs[0])
        if comparison is None:
            return known
        for position, is_true in ((1, True), (2, False)):
            key, value = step.inputs[position], known[position]
            facts = dict(self._refined_operands(comparison, is_true=is_true))
            again = self._reevaluate(key, facts) if facts and key is not None else None
            if again is not None and value is not None:
                known[position] = self._meet(value, again)
        return known

    def _comparison(self, key: Key | None) -> Step | None:
        """Return the comparison that produces a condition, looking through conversions, as every type has 0 and 1."""
        step = None if key is None else self.graph.step_of(key)
        while step is not None and step.type in _CASTS and step.inputs[0] is not None:
            step = self.graph.step_of(step.inputs[0])
        is_known = step is not None and step.rule is not None and step.type in _IS_LESS and len(step.inputs) == 2
        return step if is_known else None

    def _refined_operands(self, comparison: Step, *, is_true: bool) -> Iterator[tuple[Key, Value]]:
        """Yield the operands of a comparison, refined by its outcome."""
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
        """Return True if the comparison sees the same integers as other operations: no booleans, and nothing narrowed."""
        value = self.value(key)
        return is_integer(value.element_type) and value.element_type is not BOOLEAN and not self.semantics.narrows(value)

    def _narrowed(self, key: Key, bound: Interval) -> Iterator[tuple[Key, Value]]:
        value = self.value(key)
        elements = self.algebra.meet(value.elements, bound)
        if elements != value.elements and elements.low <= elements.high:
            yield key, replace(value, elements=elements, parts=None)

    def _reevaluate(self, wanted: Key, facts: Mapping[Key, Value]) -> Value | None:
        """Evaluate an operand again from refined values; None if it does not depend on them."""
        known = dict(facts)
        for step in self._steps_between(wanted, facts):
            if step.rule is None or not any(key in known for key in step.inputs):
                continue
            inputs = [None if key is None else known.get(key) or self.value(key) for key in step.inputs]
            declared = [self.graph.declared(output) for output in step.outputs]
            found = results_of(self.graph, step, Operands(self.algebra, self.semantics, inputs, declared))
            known |= {key: self.fitted(told, value) for key, told, value in zip(step.outputs, declared, found, strict=False)}
        return known.get(wanted)

    def _steps_between(self, wanted: Key, facts: Mapping[Key, Value]) -> list[Step]:
        """Return the elementwise steps that lead to a tensor, in topological order; none if there are too many."""
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

    def _meet(self, value: Value, again: Value) -> Value:
        """Meet a value with its refinement."""

        def narrowed(one: Interval) -> Interval:
            both = self.algebra.meet(one, again.elements)
            return both if both.low <= both.high else again.elements  # no element of this slice is selected

        return replace(value.mapped(narrowed), may_be_nan=value.may_be_nan and again.may_be_nan)
