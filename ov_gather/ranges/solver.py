"""The solver: one pass over a graph, and a fixpoint iteration over each loop body."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from ov_gather.graph.protocol import Body, BodyEdge, Key, Node, Passing
from ov_gather.graph.symbols import InferredDim, Symbol
from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ranges import choices
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial, symbols_within
from ov_gather.ranges.algebra.symbols import UnknownElement
from ov_gather.ranges.algebra.values import (
    LARGEST_SIZE,
    Value,
    every_value,
    is_integer,
    product,
)
from ov_gather.ranges.doubts import is_tainted
from ov_gather.ranges.fitting import Fitting, Overflow, kept_within, lies_in
from ov_gather.ranges.graph import AnalysedGraph, has_dynamic_shape, in_order
from ov_gather.ranges.memo import Memo, RecordedSizes, Result, Results, StepMemo
from ov_gather.ranges.reading_outside import results_of
from ov_gather.ranges.rules.call import Operands, Semantics

WIDEN_AFTER = 2
"""Visits of a loop body after which the carried values that still change are widened; one visit later all are."""
DEPTH_OF_LOOPS = 2
"""Nesting depth beyond which carried values are widened before the first visit, so that visits do not multiply."""

Known = dict[Key, Value]
_Work = Generator["_Work", None, None]


@dataclass(frozen=True)
class Names:
    """What the first analysis of a graph finds of names; it holds in all later ones.

    Attributes:
        numbers: a number for each tensor that holds an unknown integer.
        sizes: the sizes that shape inference has named anew, although they are computed from others.
    """

    numbers: dict[Key, int] = field(default_factory=dict)
    sizes: dict[Symbol, Polynomial] = field(default_factory=dict)


class Solver:
    """The state of an analysis: the abstract value of each tensor so far.

    Args:
        graph: the graph.
        algebra: interval arithmetic, with the bounds of dynamic dimensions.
        semantics: the behaviour of the runtime.
        assumed: assumed bounds of the elements of some tensors.
        names: what analyses before have found of the names of integers and sizes.
        memo: results of steps in analyses before; None for the first analysis.
    """

    def __init__(
        self,
        graph: AnalysedGraph,
        algebra: Algebra,
        semantics: Semantics,
        assumed: Mapping[Key, Interval],
        names: Names | None = None,
        memo: Memo | None = None,
    ) -> None:
        self._graph, self.algebra, self.semantics, self._assumed = graph, algebra, semantics, assumed
        self._depth = self._inside = 0
        self._memo = memo
        self.names = Names() if names is None else names
        self.known: Known = {}
        self.evaluated: set[Key] = set()  # first outputs of steps
        self.overflows: dict[Key, tuple[Overflow, ...]] = {}
        self.visits = 0  # evaluated or recalled steps, bodies included
        self._fitting = self._recorded = Fitting(algebra, semantics)
        self._asked = RecordedSizes.of_sizes(algebra.sizes)
        if memo is not None:
            self._recorded = Fitting(Algebra(self._asked), semantics)

    def run(self, steps: Sequence[Node]) -> Solver:
        """Compute the abstract value of each tensor that the steps, in the order of `in_order`, produce; return the solver."""
        waiting = [self._evaluate(steps)]
        while waiting:  # an explicit stack, because a file may nest bodies deeper than Python recurses
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(inner)
        return self

    def _evaluate(self, steps: Sequence[Node]) -> _Work:
        """Evaluate steps in order; yield the work on bodies, which must be done before this continues."""
        self.visits += len(steps)
        for step in steps:
            self.evaluated.update(step.outputs[:1])
            if step.bodies:
                yield self._loop(step) if step.repeats else self._branches(step)
            elif step.outputs:
                for key, result in zip(step.outputs, self._results(step), strict=True):
                    self._record(key, *result)

    def _results(self, step: Node) -> Results:
        """Return the results of a step: those of an analysis before if nothing differs that they depend on."""
        inputs = [None if key is None else self.value(key) for key in step.inputs]
        declared = [self._declared(output) for output in step.outputs]
        memo = None if self._memo is None else self._memo_of(step, inputs, declared)
        self._asked.start()
        if memo is None:
            return self._evaluated(step, inputs, declared, self._fitting)
        # Select evaluates steps before it again, with what the graph declares of them
        scope = self._graph if step.type in choices.TYPES else None
        operands = (scope, self.algebra.sizes.largest, *inputs, *declared)
        found = memo.recall(operands, self.algebra.sizes, self.value)
        if found is None:
            found = self._evaluated(step, inputs, declared, self._recorded)
            memo.keep(operands, self._asked.log, found)
        return found

    def _memo_of(self, step: Node, inputs: Sequence[Value | None], declared: Sequence[Value]) -> StepMemo | None:
        """Return the results of a step in analyses before; None if it is evaluated sooner than found."""
        assert self._memo is not None
        if not self._assumed.keys().isdisjoint(step.outputs):
            return None
        if self._depth or step.type in choices.TYPES:  # a loop ends with a visit that finds nothing new
            return self._memo.of(step)
        for value in (*declared, *inputs):
            if value is not None and value.has_symbols:
                return self._memo.of(step)
        return None

    def _evaluated(self, step: Node, inputs: list[Value | None], declared: list[Value], fitting: Fitting) -> Results:
        """Evaluate a step."""
        found: Sequence[Value] = declared
        if step.inputs or self._graph.rule(step) is not None:
            if step.type in choices.TYPES:
                inputs = self._refined(step)
            found = results_of(self._graph, step, Operands(fitting.algebra, self.semantics, inputs, declared))
        if len(found) != len(declared):  # a broken model may declare too many outputs, or too few
            found = declared
        results = zip(step.outputs, declared, found, strict=True)
        return [self._fitted(key, told, value, fitting) for key, told, value in results]

    def _refined(self, step: Node) -> list[Value | None]:
        """Return the operands of a Select. What refines them is not kept: a cycle would not be freed with the analysis."""
        value, fitting = self.value if self._memo is None else self._asked_value, self._recorded
        return choices.BranchRefinement(self._graph, fitting.algebra, self.semantics, value, fitting.fit).operands(step)

    def _asked_value(self, key: Key) -> Value:
        """Return the abstract value of a tensor, on which the results of the step that is evaluated depend."""
        found = self.value(key)
        self._asked.log.append(((None, (key,)), found))
        return found

    def value(self, key: Key) -> Value:
        """Return the abstract value of a tensor."""
        found = self.known.get(key)
        if found is None:
            self._learn_declared(key)
            found = self.known[key]
        return found

    def _learn_declared(self, key: Key) -> None:
        """Record what the model declares of an input or a constant.

        Elements beyond the runtime's integers saturate in a constant; in an input they wrap around, so any value is possible.
        """
        told = declared = self._graph.declared(key)
        if self._memo is not None and key in self._memo.constants:
            self.known[key] = told
            return
        widest = self.semantics.widest(declared.element_type)
        if declared.elements.is_any:
            given = every_value(declared.element_type)
            is_kept = lies_in(given, widest) and declared.element_type is not BOOLEAN  # a boolean input may hold any byte
            declared = replace(declared, elements=given if is_kept else widest)
        elif not lies_in(declared.elements, widest):
            declared = declared.mapped(lambda elements: kept_within(elements, widest))
        self._learn(key, declared, declared)
        if self._memo is not None and self.known[key] is told:
            self._memo.constants.add(key)

    def _learn(self, key: Key, declared: Value, value: Value) -> None:
        """Record the abstract value of a tensor in its declared type and shape."""
        self._record(key, *self._fitted(key, declared, value, self._fitting))

    def _record(self, key: Key, value: Value, overflows: tuple[Overflow, ...]) -> None:
        """Record the abstract value of a tensor."""
        if overflows:
            self.overflows[key] = overflows
        self.known[key] = value
        self._exists(key, value)

    def _fitted(self, key: Key, declared: Value, value: Value, fitting: Fitting) -> Result:
        """Return a value in its declared type and shape, within the assumed bounds, and the bounds that exceed the type."""
        algebra = fitting.algebra
        found, value = value, fitting.fit(declared, value)
        overflows = () if value.elements is found.elements else tuple(fitting.overflow(found, declared))
        if key in self._assumed:
            value = replace(value, elements=algebra.meet(value.elements, self._assumed[key]), parts=None, may_be_nan=False)
        return self._named(key, value, algebra), overflows

    def _declared(self, key: Key) -> Value:
        """Return what the model declares of a tensor, with the sizes that are known to be others."""
        declared, sizes = self._graph.declared(key), self.names.sizes
        if not sizes or declared.shape is None or sizes.keys().isdisjoint(one for dim in declared.shape for one in dim.symbols):
            return declared
        shape = tuple(dim.with_values(sizes) for dim in declared.shape)
        return self._graph.renamed(replace(declared, shape=shape))

    def _learn_sizes(self, key: Key, value: Value) -> None:
        """Learn that a size that shape inference has named is computed from others: sizes of its name are equal."""
        declared, found = self._declared(key).shape or (), value.shape or ()
        for told, dim in zip(declared, found, strict=True) if len(declared) == len(found) else ():
            symbol = next(iter(told.symbols), None)
            is_name = isinstance(symbol, InferredDim) and symbol.is_global and told == Polynomial.symbol(symbol)
            if is_name and symbol is not None and symbol not in symbols_within(dim):
                self.names.sizes[symbol] = dim

    def _named(self, key: Key, value: Value, algebra: Algebra) -> Value:
        """Name an unknown integer of a tensor with one element, so that sizes computed from it are known to be equal."""
        elements = value.elements
        if elements.low < 0 or value.shape is None or not is_integer(value.element_type) or elements.exactly is not None:
            return value
        if any(dim.value != 1 for dim in value.shape):
            return value
        symbol = UnknownElement(self._graph.name_of(key), self.names.numbers.setdefault(key, len(self.names.numbers)))
        algebra.sizes.set_bounds(symbol, (int(elements.low), elements.high))
        return replace(value, elements=algebra.meet(elements, algebra.exact(Polynomial.symbol(symbol))), parts=None)

    def _exists(self, key: Key, value: Value) -> None:
        """Record that a tensor outside of all bodies has at most LARGEST_SIZE elements."""
        if self._memo is None and not self._inside and value.shape is not None:
            self.algebra.sizes.limits.add(product(value.shape), LARGEST_SIZE)
            self._learn_sizes(key, value)

    def _branches(self, step: Node) -> _Work:
        for body in step.bodies:
            self._inside += 1
            for edge in body.entries:
                self._arrive(edge)
            yield self._evaluate(in_order(self._graph, self._graph.ends(body)))
            self._inside -= 1
        self._record_outputs(step)

    def _loop(self, step: Node) -> _Work:
        (body,) = step.bodies
        steps = in_order(self._graph, self._graph.ends(body))
        states = [edge for edge in body.entries if edge.passing is Passing.CARRIED]
        self._inside += 1
        for edge in body.entries:
            self._arrive(edge, step)
        self._depth += 1
        visits = 0 if self._depth <= DEPTH_OF_LOOPS else WIDEN_AFTER + 1
        if visits:
            self._widen(states)
        while True:
            yield self._evaluate(steps)
            visits += 1
            changed = [edge for edge in states if self._join_back_edge(edge)]
            if not changed or visits > WIDEN_AFTER + 2:
                break
            if visits >= WIDEN_AFTER:
                self._widen(changed if visits == WIDEN_AFTER else states)
        self._depth -= 1
        self._inside -= 1
        self._record_outputs(step)

    def _arrive(self, edge: BodyEdge, step: Node | None = None) -> None:
        declared = self._graph.declared(edge.inner)
        if edge.passing is Passing.COUNT:
            self._learn(edge.inner, declared, replace(declared, elements=self._count(step), may_be_nan=False))
            return
        if edge.outer is None:
            self._widen([edge])
            return
        value = self.value(edge.outer)
        if edge.passing is not Passing.WHOLE:  # a carried value may change its shape, and a slice has another one
            value = replace(value, shape=declared.shape, parts=None, peak=-inf)
        self._learn(edge.inner, declared, value)

    def _count(self, step: Node | None) -> Interval:
        """Return the range of the iteration counter. With a negative trip count only the condition ends the loop."""
        trips = ANY if step is None or step.trips is None else self.value(step.trips).elements
        if trips.low < 0:
            return Interval(0, inf)
        last = self.algebra.subtract(trips, self.algebra.exact(1))
        return self.algebra.meet(Interval(0, max(last.high, 0), (), last.highs), Interval(0, inf))

    def _join_back_edge(self, edge: BodyEdge) -> bool:
        """Join a carried value with the result of an iteration; return True if it grew."""
        assert edge.next is not None
        before, after = self.value(edge.inner), self.value(edge.next)
        joined = self.algebra.join(before.elements, _numbers(after.elements))
        may_be_nan = before.may_be_nan or after.may_be_nan
        if (joined, may_be_nan) == (before.elements, before.may_be_nan):
            return False
        self._learn(edge.inner, self._graph.declared(edge.inner), replace(before, elements=joined, may_be_nan=may_be_nan))
        return True

    def _widen(self, passages: Iterable[BodyEdge]) -> None:
        for edge in passages:
            declared = self._graph.declared(edge.inner)
            self._learn(edge.inner, declared, declared)

    def _record_outputs(self, step: Node) -> None:
        """Record the outputs of an operation with bodies: the join over all bodies that may execute."""
        found: dict[Key, Value] = {}
        executed = self._executed(step)
        for body in executed:
            for edge in body.exits:
                if edge.outer is None:
                    continue
                declared, value = self._graph.declared(edge.outer), self.value(edge.inner)
                if step.repeats:
                    if edge.passing is Passing.WHOLE:
                        value = self._or_first(step, body, edge, value)
                    value = replace(value, elements=_numbers(value.elements), shape=declared.shape, parts=None, peak=-inf)
                before = found.get(edge.outer)
                found[edge.outer] = value if before is None else self._either(before, value, declared)
        has_choice = len(executed) > 1 and not step.repeats
        is_stale = has_choice and self.semantics.reads_out_of_bounds
        freed = [key for key in step.outputs if is_stale and has_dynamic_shape(self._graph.declared(key))]
        for key in step.outputs:
            declared = self._graph.declared(key)
            if self.semantics.reads_out_of_bounds and is_tainted(self._graph, key):
                self._learn(key, declared, replace(declared, shape=None))
                continue
            value = found.get(key, declared)
            # If an If has several outputs of dynamic shape, the CPU plugin returns freed memory when a branch first executes.
            is_freed = len(freed) > 1 and key in freed
            self._learn(key, declared, replace(declared, shape=value.shape) if is_freed else value)

    def _either(self, one: Value, other: Value, declared: Value) -> Value:
        """Join an output of two branches. A dimension survives if it is equal in both."""
        elements, may_be_nan = self.algebra.join(one.elements, other.elements), one.may_be_nan or other.may_be_nan
        shape = declared.shape
        if one.shape is not None and other.shape is not None and shape and len(one.shape) == len(other.shape) == len(shape):
            dims = zip(one.shape, other.shape, shape, strict=True)
            shape = tuple(dim if dim == same else told for dim, same, told in dims)
        return replace(declared, elements=elements, shape=shape, may_be_nan=may_be_nan)

    def _executed(self, step: Node) -> list[Body]:
        """Return the bodies that may execute."""
        bodies = list(step.bodies)
        if step.repeats or not step.inputs or step.inputs[0] is None:
            return bodies
        condition = self.value(step.inputs[0]).elements
        never = False if condition.low > 0 else True if condition.low == condition.high == 0 else None
        return [body for body in bodies if body.condition is None or body.condition is not never]

    def _or_first(self, step: Node, body: Body, edge: BodyEdge, value: Value) -> Value:
        """Join an output of a loop with its value if the body never executes: the initial carried value."""
        states = [one for one in body.entries if one.passing is Passing.CARRIED and one.next == edge.inner]
        may_not_run = step.trips is not None and self.value(step.trips).elements.low < 1
        if any(one.outer is None or self._is_unset(step, one) for one in states) or (not states and may_not_run):
            return self._graph.declared(edge.inner)
        for state in states:
            assert state.outer is not None
            first = self.value(state.outer)
            joined = self.algebra.join(value.elements, first.elements)
            value = replace(value, elements=joined, may_be_nan=value.may_be_nan or first.may_be_nan)
        return value

    def _is_unset(self, step: Node, state: BodyEdge) -> bool:
        """Return True if the CPU plugin may return a carried value unset: the body does not read it, and may never execute."""
        is_read = any(True for _ in self._graph.graph.uses(state.inner))
        if step.type != "Loop" or not self.semantics.reads_out_of_bounds or is_read:
            return False
        return any(key is not None and self.value(key).elements.low < 1 for key in step.inputs[:2])


def _numbers(elements: Interval) -> Interval:
    """Drop symbolic bounds, because each iteration has its own sizes."""
    return Interval(elements.low, elements.high)
