"""Check of the control of If, Loop and TensorIterator: whether an output is composed of single iterations of the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.graphs import Value
from ov_gather.crosscheck.bisect.inside import MOST_ITERATIONS, Bodies, bodies
from ov_gather.crosscheck.bisect.rounding import difference, errors
from ov_gather.runtimes.base import CrashedError, RefusedError


def is_composed(comparer: Comparer, value: Value) -> bool:
    """Return True if iterations of the model's body, controlled by the reference, compose the model's value.

    Permitted are rounding, and NOISE times the difference of the two bodies under this control.
    """
    try:
        found = _composed(comparer, value)
        here = comparer.values_of_model([value])[value]
    except (RefusedError, CrashedError, IndexError, ValueError):  # ValueError: shapes do not match
        return False
    if found is None:
        return False
    expected, composed = found
    return not difference(composed, here, comparer.share(value), errors(expected, composed))


def _composed(comparer: Comparer, value: Value) -> tuple[NDArray[Any], NDArray[Any]] | None:
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


def _bodies_of_operands(comparer: Comparer, value: Value) -> Bodies | None:
    """Return the bodies that compute a value, both with the model's values from outside."""
    pairs, graph = comparer.pairs.reference, comparer.model.graph
    operands = [source for source in graph.producers[value].inputs if source not in graph.constants]
    here = comparer.values_of_model(operands)
    expected = comparer.values_of_reference([source for source in operands if source in pairs])
    same = {pairs[source]: here[source].astype(array.dtype).reshape(array.shape) for source, array in expected.items()}

    def array(outside: Value) -> NDArray[Any] | None:
        if outside in same:
            return same[outside]
        constant = comparer.reference.constant(outside)
        return comparer.reference.prefix([outside])[outside] if constant is None else constant

    def array_of_model(outside: Value) -> NDArray[Any] | None:
        return here[outside] if outside in here else comparer.model.constant(outside)

    return bodies(comparer, value, array, array_of_model)
