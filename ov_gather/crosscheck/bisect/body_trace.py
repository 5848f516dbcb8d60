"""Tracing of a difference into the body of the If, Loop or TensorIterator that computes it, iteration by iteration.

If the bodies agree in each iteration, the control is checked: whether single iterations of the body compose the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import ITERATION, Array, ObservedBody, Origin, SliceOrigin
from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.inputs import Sides
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.bisect.results import Culprit
from ov_gather.crosscheck.bisect.rounding import Rounding, difference, errors
from ov_gather.graph.protocol import Key
from ov_gather.runtimes.base import FAILURES

MOST_ITERATIONS = 50
"""Maximum number of iterations that are followed."""


@dataclass(frozen=True)
class Bodies:
    """The bodies of two sub-graphs in one iteration.

    Attributes:
        names: for each input of `ours`, the corresponding input of `theirs`.
        outputs: the same for outputs.
    """

    ours: ObservedBody
    theirs: ObservedBody
    names: Mapping[str, str]
    outputs: Mapping[Key, Key]


@dataclass(frozen=True)
class BodyIteration:
    """Two bodies as sides in one iteration.

    Attributes:
        outputs: corresponding outputs of the two.
        is_compared: whether they include the inner source of the wrong value.
        is_last: whether this is the last iteration of the reference.
    """

    sides: Sides
    outputs: dict[Key, Key]
    is_compared: bool
    is_last: bool


Culprits = Callable[[BodyIteration, Rounding], Iterator[Culprit]]
"""Yields the culprits of two bodies in one iteration."""


@dataclass(frozen=True)
class BodyTrace:
    """The result of tracing a difference into a body.

    Attributes:
        culprit: the culprit of the bodies, if any.
        excuse: why the difference outside is not a fault; "" if it may be one.
        description: the comparison, in a sentence; "" if the operation has no body.
        is_whole: whether the inner source of the value was compared in all iterations.
    """

    culprit: Culprit | None = None
    excuse: str = ""
    description: str = ""
    is_whole: bool = False


def follow(comparer: Comparer, value: Key, culprits: Culprits) -> BodyTrace:
    """Trace a value that differs into the body that computes it.

    The tolerance is the usual one first and then, if the control is right, the finest.
    """
    node = comparer.model.graph.producers.get(value)
    if node is None or not node.bodies:
        return BodyTrace()
    usual = replace(comparer.rounding, of_outputs=0)
    try:
        found = _followed(comparer, value, culprits, usual)
        if not found.is_whole or not is_composed(comparer, value):
            return found
        found = _followed(comparer, value, culprits, usual.finest())
    except FAILURES as error:
        return BodyTrace(description=f"Its body is not executed alone: {error}")
    if found.culprit is not None:
        return found
    return BodyTrace(excuse=f"{node} iterates its body as the reference does, and no value in it is off by more than rounding")


def _followed(comparer: Comparer, value: Key, culprits: Culprits, rounding: Rounding) -> BodyTrace:
    """Follow the iterations up to the first one in which the bodies differ."""
    node, count, inner = comparer.model.graph.producers[value], 0, None
    for inner in iterations(comparer, value):
        culprit = next(culprits(inner, rounding), None)
        comparer.model.runs += inner.sides.model.runs
        if culprit is not None:
            when = f", in iteration {count} (the first is 0)" if node.repeats else ""
            return BodyTrace(replace(culprit, detail=f"It is in the body of {node}{when}. {culprit.detail}"))
        count += 1
    is_whole = inner is not None and inner.is_compared and inner.is_last
    share = rounding.share(1)
    near = f"{share:.0e}" if isinstance(share, float) else str(share)
    return BodyTrace(description=_compared(inner, count, near), is_whole=is_whole)


def _compared(last: BodyIteration | None, count: int, near: str) -> str:
    """Describe the comparison of bodies that do not part, given the last iteration that was followed."""
    if last is None:
        return "Its body cannot be followed."
    if not last.is_compared:
        return f"What its body computes for this output has no counterpart; the rest is the same in iterations: {count}."
    rest = "" if last.is_last else "; those after them were not followed"
    return f"Its body gives the same within {near}, followed through iterations: {count}{rest}."


def is_composed(comparer: Comparer, value: Key) -> bool:
    """Return True if iterations of the model's body, controlled by the reference, compose the model's value.

    Permitted are rounding, and NOISE times the difference of the two bodies under this control.
    """
    try:
        found = _composed(comparer, value)
        here = comparer.model.observe([value])[value]
    except (*FAILURES, ValueError):  # ValueError: shapes do not match
        return False
    if found is None:
        return False
    expected, composed = found
    return not difference(composed, here, comparer.share(value), errors(expected, composed))


def _composed(comparer: Comparer, value: Key) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Compute a value by executing both bodies alone, on the model's operands; None if they cannot be followed to the end.

    Each body continues with its own carried values; slices and the number of iterations are those of the reference.
    """
    each = _bodies_of_operands(comparer, value)
    other = comparer.pairs.reference[value]
    if each is None or value not in each.ours.results or other not in each.theirs.results:
        return None
    theirs, states = each.theirs, dict[str, NDArray[Any]]()
    right: list[NDArray[Any]] = []
    found: list[NDArray[Any]] = []
    for _ in range(MOST_ITERATIONS):
        expected = comparer.reference.inside(theirs).observe([])
        here = comparer.model.inside(replace(each.ours, inputs=_given(each, theirs.inputs) | states)).observe([])
        right.append(expected[theirs.results[other]])
        found.append(here[each.ours.results[value]].reshape(right[-1].shape))
        carried = theirs.next_states(expected)
        if carried is None:
            joined = theirs.joined.get(other)
            return (right[-1], found[-1]) if joined is None else (joined.join(right), joined.join(found))
        theirs = theirs.following(carried)
        states = {name: here[source] for name, source in each.ours.carried.items()}
    return None


def _given(each: Bodies, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the inputs of the model's body, taken from the reference if they correspond."""
    return {
        name: inputs[each.names[name]].reshape(array.shape) if name in each.names else array
        for name, array in each.ours.inputs.items()
    }


def _bodies_of_operands(comparer: Comparer, value: Key) -> Bodies | None:
    """Return the bodies that compute a value, both with the model's values from outside."""
    pairs, graph = comparer.pairs.reference, comparer.model.graph
    operands = [source for source in graph.producers[value].sources if source not in graph.constants]
    here = comparer.model.observe(operands)
    expected = comparer.values_of_reference([source for source in operands if source in pairs])
    same = {pairs[source]: here[source].astype(array.dtype).reshape(array.shape) for source, array in expected.items()}

    def array(outside: Key) -> NDArray[Any]:
        return same[outside] if outside in same else comparer.reference.value(outside)

    def array_of_model(outside: Key) -> NDArray[Any] | None:
        return here[outside] if outside in here else comparer.model.constant(outside)

    return bodies(comparer, value, array, array_of_model)


def bodies(comparer: Comparer, value: Key, array: Array, array_of_model: Array) -> Bodies | None:
    """Return the bodies that compute a value; None if there are none, or one cannot be extracted.

    `array` and `array_of_model` return the values outside of the bodies, of the reference and of the model.
    """
    pairs = comparer.pairs.reference
    try:
        ours, theirs = comparer.model.body(value, array_of_model), comparer.reference.body(pairs[value], array)
    except (*FAILURES, KeyError):
        return None
    if ours is None or theirs is None or theirs.count < 1:
        return None
    names = _paired(ours, theirs, pairs)
    return Bodies(ours, theirs, names, _paired_outputs(ours, theirs, pairs, names, value))


def iterations(comparer: Comparer, value: Key) -> Iterator[BodyIteration]:
    """Yield the bodies that compute a value, iteration by iteration; nothing if they cannot be extracted.

    In each iteration, both bodies get the reference's values as inputs.

    Raises RefusedError, CrashedError, IndexError if the body of the reference cannot be executed.
    """
    pairs = comparer.pairs.reference

    def array_of_model(outside: Key) -> NDArray[Any] | None:
        constant = comparer.model.constant(outside)
        return comparer.reference.value(pairs[outside]) if constant is None and outside in pairs else constant

    each = bodies(comparer, value, comparer.reference.value, array_of_model)
    for _ in range(MOST_ITERATIONS):
        if each is None:
            return
        ours, theirs = each.ours, each.theirs
        reference, model = comparer.reference.inside(theirs), comparer.model.inside(ours)
        assert isinstance(model, IRSide)
        states = theirs.next_states(reference.observe([])) if theirs.count > 1 else None
        yield BodyIteration(
            Sides(reference, model, each.names, theirs.inputs),
            dict(each.outputs),
            ours.results.get(value) in each.outputs,
            states is None,
        )
        if states is None or ours.number + 1 >= ours.count or not ours.carried.keys() <= each.names.keys():
            return
        theirs = theirs.following(states)
        ours = ours.following({name: theirs.inputs[each.names[name]] for name in ours.carried})
        each = replace(each, ours=ours, theirs=theirs)


def _paired(ours: ObservedBody, theirs: ObservedBody, pairs: Mapping[Key, Key]) -> dict[str, str]:
    """Map the input names of the model's body to those of the reference's body, by origin.

    Carried values whose origins do not correspond are paired by position.
    """
    waiting: dict[tuple[Origin, bool], list[str]] = {}
    for name, origin in theirs.sources.items():
        waiting.setdefault((origin, name in theirs.carried), []).append(name)
    names = {}
    for name, origin in ours.sources.items():
        if others := waiting.get((_of_reference(origin, pairs), name in ours.carried)):
            names[name] = others.pop(0)
    if len(ours.carried) == len(theirs.carried):
        for name, other in zip(ours.carried, theirs.carried, strict=True):
            if name not in names and other not in names.values():
                names[name] = other
    return names


def _paired_outputs(
    ours: ObservedBody, theirs: ObservedBody, pairs: Mapping[Key, Key], names: Mapping[str, str], wrong: Key
) -> dict[Key, Key]:
    """Map the outputs of the model's body to those of the reference's body, by destination: outside, or the next iteration."""
    outside = [*(outer for outer in ours.results if outer != wrong), wrong]  # the last one wins if a value has two destinations
    found = {
        ours.results[outer]: theirs.results[pairs[outer]]
        for outer in outside
        if outer in ours.results and pairs.get(outer) in theirs.results
    }
    for name, value in ours.carried.items():
        if names.get(name) in theirs.carried:
            found.setdefault(value, theirs.carried[names[name]])
    if ours.condition is not None and theirs.condition is not None:
        found.setdefault(ours.condition, theirs.condition)
    return found


def _of_reference(origin: Origin, pairs: Mapping[Key, Key]) -> Origin:
    if isinstance(origin, SliceOrigin):
        return SliceOrigin(pairs.get(origin.value, ""))
    return origin if origin == ITERATION else pairs.get(origin, "")
