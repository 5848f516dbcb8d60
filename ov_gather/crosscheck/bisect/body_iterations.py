"""Corresponding bodies of two sub-graphs as the two sides of a bisection, iteration by iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.graphs import Value
from ov_gather.crosscheck.bisect.inputs import Sides
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.bisect.sides import ITERATION, Array, ObservedBody, Origin, SliceOrigin
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
    outputs: Mapping[Value, Value]


@dataclass(frozen=True)
class BodyIteration:
    """Two bodies as sides in one iteration.

    Attributes:
        outputs: corresponding outputs of the two.
        is_compared: whether they include the inner source of the wrong value.
        is_last: whether this is the last iteration of the reference.
    """

    sides: Sides
    outputs: dict[Value, Value]
    is_compared: bool
    is_last: bool


def bodies(comparer: Comparer, value: Value, array: Array, array_of_model: Array) -> Bodies | None:
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


def iterations(comparer: Comparer, value: Value) -> Iterator[BodyIteration]:
    """Yield the bodies that compute a value, iteration by iteration; nothing if they cannot be extracted.

    In each iteration, both bodies get the reference's values as inputs.

    Raises RefusedError, CrashedError, IndexError if the body of the reference cannot be executed.
    """
    pairs = comparer.pairs.reference

    def array_of_model(outside: Value) -> NDArray[Any] | None:
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


def _paired(ours: ObservedBody, theirs: ObservedBody, pairs: Mapping[Value, Value]) -> dict[str, str]:
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
    ours: ObservedBody, theirs: ObservedBody, pairs: Mapping[Value, Value], names: Mapping[str, str], wrong: Value
) -> dict[Value, Value]:
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


def _of_reference(origin: Origin, pairs: Mapping[Value, Value]) -> Origin:
    if isinstance(origin, SliceOrigin):
        return SliceOrigin(pairs.get(origin.value, ""))
    return origin if origin == ITERATION else pairs.get(origin, "")
