"""Refinement of the operands of Select by the comparisons that select them.

In `Select(Less(n, 8), n, f(n))` the elements of f(n) that are selected have n >= 8. In `Select(And(n >= 0, n < 50), n, 0)` the
elements of n that are selected are in 0..49.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf

from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ops.table import EITHER, OpKind, where
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.values import Value, is_integer
from ov_gather.ranges.doubts import is_doubted
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.reading_outside import results_of
from ov_gather.ranges.rules.call import Operands, Semantics
from ov_gather.system.traversal import depth_first, reachable

TYPES = where(EITHER, lambda op: op.kind is OpKind.SELECTION)
"""The selecting operations of OpenVINO and ONNX."""
_BY_ELEMENT = where(EITHER, lambda op: op.by_element and op.has_bounds and op.kind is not OpKind.COMPARISON)
"""Operations that compute each element of the output from the elements at the same position."""
_MOVES = where(EITHER, lambda op: op.meaning.keeps_each) - {"Squeeze"}  # makes one element of an empty axis
LONGEST = 24
"""Maximum number of tensors visited to refine one operand."""


def filled_with(graph: AnalysedGraph, wanted: Key) -> list[Key]:
    """Return a tensor and others that have elements if it has some: operands of moves and elementwise operations."""
    found = [wanted]
    for key in found:
        step = graph.producer(key)
        if step is None or len(found) > LONGEST:
            continue
        given = step.inputs if step.type in _BY_ELEMENT else step.inputs[:1] if step.type in _MOVES else ()
        found += [one for one in given if one is not None and one not in found]
    return found


@dataclass(frozen=True)
class BranchRefinement:
    """Refinement of the operands of one Select.

    Attributes:
        value: returns the abstract value of a tensor.
        fitted: fits a computed value to the declared type and shape of an output.
    """

    graph: AnalysedGraph
    algebra: Algebra
    semantics: Semantics
    value: Callable[[Key], Value]
    fitted: Callable[[Value, Value], Value]
    _doubted: dict[Node, bool] = field(default_factory=dict)

    def operands(self, step: Node) -> list[Value | None]:
        """Return the operands of a Select, refined by the condition under which each is selected."""
        known = [None if key is None else self.value(key) for key in step.inputs]
        if len(known) != 3 or None in known:
            return known
        for position, is_true in ((1, True), (2, False)):
            key, value = step.inputs[position], known[position]
            facts = self._facts(step.inputs[0], is_true=is_true)
            again = self._reevaluate(key, facts) if facts and key is not None else None
            if again is not None and value is not None:
                known[position] = self._meet(value, again)
        return known

    def _outcomes(self, key: Key | None, *, is_true: bool) -> Iterator[tuple[Node, bool]]:
        """Yield the comparisons whose outcomes follow from a condition: both of a conjunction that holds, for example.

        Conversions are looked through, as every type has 0 and 1.
        """
        waiting = [(key, is_true)]
        for _ in range(LONGEST):
            if not waiting:
                return
            key, is_true = waiting.pop()
            step = None if key is None else self.graph.producer(key)
            if step is None or self._is_doubted(step):
                continue
            op = EITHER[step.type]
            if op.kind is OpKind.CAST:
                waiting.append((step.inputs[0], is_true))
            elif op.symbol == "~" and self.graph.declared(step.outputs[0]).element_type is BOOLEAN:
                waiting.append((step.inputs[0], not is_true))
            elif op.symbol == ("&" if is_true else "|"):
                waiting += [(given, is_true) for given in step.inputs]
            elif op.kind is OpKind.COMPARISON and len(step.inputs) == 2:
                yield step, is_true

    def _is_doubted(self, step: Node) -> bool:
        """Return True if the outcome of a step may be wrong, or is not understood; it is asked twice."""
        if step not in self._doubted:
            rule, doubts = self.graph.rule(step), self.semantics.reads_out_of_bounds
            is_wrong = rule is not None and doubts and is_doubted(self.graph, step, self._operands(step, {}), rule)
            self._doubted[step] = rule is None or is_wrong
        return self._doubted[step]

    def _operands(self, step: Node, refined: Mapping[Key, Value]) -> Operands:
        """Return the operands of a step, some of them refined."""
        inputs = [None if key is None else refined.get(key) or self.value(key) for key in step.inputs]
        return Operands(self.algebra, self.semantics, inputs, [self.graph.declared(output) for output in step.outputs])

    def _facts(self, key: Key | None, *, is_true: bool) -> dict[Key, Value]:
        """Return the operands of comparisons, refined by the outcome of a condition."""
        found: dict[Key, Value] = {}
        for comparison, outcome in self._outcomes(key, is_true=is_true):
            for one, value in self._refined_operands(comparison, is_true=outcome):
                known = found.get(one)
                elements = value.elements if known is None else self.algebra.meet(known.elements, value.elements)
                if elements.low <= elements.high:
                    found[one] = replace(value, elements=elements)
        return found

    def _refined_operands(self, comparison: Node, *, is_true: bool) -> Iterator[tuple[Key, Value]]:
        """Yield the operands of a comparison, refined by its outcome."""
        one, other = comparison.inputs
        if one is None or other is None or not (self._is_exact(one) and self._is_exact(other)):
            return
        symbol = EITHER[comparison.type].symbol
        if symbol in ("==", "!="):
            is_equal = (symbol == "==") is is_true
            refined = self._equal if is_equal else self._unequal
            yield from refined(one, self.value(other).elements)
            yield from refined(other, self.value(one).elements)
            return
        is_strict = (symbol in ("<", ">")) is is_true
        less, greater = (one, other) if (symbol in ("<", "<=")) is is_true else (other, one)
        gap = self.algebra.exact(int(is_strict))
        most = self.algebra.subtract(self.value(greater).elements, gap)
        least = self.algebra.add(self.value(less).elements, gap)
        exact = self.semantics.exact_integers
        if abs(most.high) <= exact:
            yield from self._narrowed(less, Interval(-inf, most.high, (), most.highs))
        if abs(least.low) <= exact:
            yield from self._narrowed(greater, Interval(least.low, inf, least.lows))

    def _equal(self, key: Key, other: Interval) -> Iterator[tuple[Key, Value]]:
        if max(abs(other.low), abs(other.high)) < self.semantics.exact_integers:
            yield from self._narrowed(key, other)

    def _unequal(self, key: Key, other: Interval) -> Iterator[tuple[Key, Value]]:
        """Exclude the number that a tensor is compared with if it is the least or the greatest."""
        elements = self.value(key).elements
        if other.low != other.high or abs(other.low) >= self.semantics.exact_integers:
            return
        low, high = elements.low + int(elements.low == other.low), elements.high - int(elements.high == other.low)
        yield from self._narrowed(key, Interval(low, high))

    def _is_exact(self, key: Key) -> bool:
        """Return True if the comparison sees the same integers as other operations: no booleans."""
        value = self.value(key)
        return is_integer(value.element_type) and value.element_type is not BOOLEAN

    def _narrowed(self, key: Key, bound: Interval) -> Iterator[tuple[Key, Value]]:
        value = self.value(key)
        elements = self.algebra.meet(value.elements, bound)
        if elements != value.elements and elements.low <= elements.high:
            yield key, replace(value, elements=elements, parts=None)

    def _reevaluate(self, wanted: Key, facts: Mapping[Key, Value]) -> Value | None:
        """Evaluate an operand again from refined values; None if it does not depend on them."""
        known = dict(facts)
        for step in self._steps_between(wanted, facts):
            if self.graph.rule(step) is None or not any(key in known for key in step.inputs):
                continue
            narrows = any(key is not None and self.semantics.narrows(self.value(key)) for key in step.inputs)
            if narrows and EITHER[step.type].kind is OpKind.CAST:
                continue  # the conversion may see 64 bits, and the comparison the lower 32
            call = self._operands(step, known)
            fitted = map(self.fitted, call.outputs, results_of(self.graph, step, call))
            known |= zip(step.outputs, fitted, strict=False)
        return known.get(wanted)

    def _steps_between(self, wanted: Key, facts: Mapping[Key, Value]) -> list[Node]:
        """Return the elementwise steps that lead to a tensor, in topological order; none if there are too many."""

        def producers(keys: Iterable[Key]) -> list[Node]:
            steps = (self.graph.producer(key) for key in keys if key not in facts)
            return [step for step in steps if step is not None and step.type in _BY_ELEMENT]

        def before(step: Node) -> list[Node]:
            return producers(step.sources)

        last, most = producers([wanted]), max(LONGEST - len(facts), 0)
        is_long = next(islice(reachable(last, before), most, None), None) is not None
        return [] if is_long else list(depth_first(last, before))

    def _meet(self, value: Value, again: Value) -> Value:
        """Meet a value with its refinement."""

        def narrowed(one: Interval) -> Interval:
            both = self.algebra.meet(one, again.elements)
            return both if both.low <= both.high else again.elements  # no element of this slice is selected

        return replace(value.mapped(narrowed), may_be_nan=value.may_be_nan and again.may_be_nan)
