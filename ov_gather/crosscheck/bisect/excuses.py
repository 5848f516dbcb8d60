"""Excuses for differences: given the model's operands, the reference computes or permits the model's result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.graphs import Value
from ov_gather.crosscheck.bisect.rounding import difference, errors
from ov_gather.crosscheck.bisect.search import SearchResult
from ov_gather.crosscheck.bisect.sides import Replacement
from ov_gather.runtimes.base import FAILURES

NEIGHBOURS = 4
"""Number of random perturbations of operands that estimate the effect of rounding on the result."""
NEIGHBOURS_OF_FUSED = 16
"""The same for fused nodes: rounding may decide between two results, and both must occur."""


@dataclass(frozen=True)
class _Operands:
    """The model's values of a difference and its sources; and the sources in the reference's names, types and shapes."""

    here: Mapping[Value, NDArray[Any]]
    given: Mapping[Value, Replacement]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        return [each.array for each in self.given.values()]


def is_rounding(comparer: Comparer, found: SearchResult) -> bool:
    """Return True if the reference computes the model's value from the model's operands, or from operands as near to them."""
    operands = _operands(comparer, found)
    if operands is None:
        return False
    part = comparer.reference.part(operands.given, {comparer.pairs.reference[found.value]: comparer.name(found.value)})
    if part is None:
        return False
    here = operands.here[found.value]
    try:
        (output,) = part.run(operands.arrays)
        if not difference(output, here, comparer.share(found.value)):
            return True
        node = comparer.model.graph.producers.get(found.value)  # none computes a constant
        noise = np.full(output.shape, comparer.rounding.noise_of("" if node is None else node.type))
        for seed in range(NEIGHBOURS):
            (other,) = part.run(comparer.rounding.neighbours(operands.arrays, seed))
            noise = np.maximum(noise, errors(output, other))
    except FAILURES:
        return False
    return not difference(output, here, comparer.share(found.value), noise)


def is_rounding_of_fused(comparer: Comparer, found: SearchResult, wrong: Value) -> bool:
    """Return True if rounding of operands explains an output that becomes right as soon as an inner value is observed."""
    operands = _operands(comparer, found)
    if operands is None:
        return False
    output, outputs = comparer.pairs.reference[wrong], list[NDArray[Any]]()
    try:
        here = comparer.model.observe([])[wrong]
        for seed in range(NEIGHBOURS_OF_FUSED):
            arrays = comparer.rounding.neighbours(operands.arrays, seed) if seed else operands.arrays
            given = {
                value: replace(each, array=array) for (value, each), array in zip(operands.given.items(), arrays, strict=True)
            }
            computed = comparer.reference.computed_from(given, output)
            if computed is None:
                return False
            outputs.append(computed)
    except FAILURES:
        return False
    noise = np.max([errors(outputs[0], other) for other in outputs], axis=0)
    return not difference(outputs[0], here, comparer.rounding.share_of_outputs(len(found.nodes)), noise)


def is_left_open(comparer: Comparer, found: SearchResult) -> bool:
    """Return True if the specification of the reference's operation permits the model's result for the model's operands."""
    pairs, graph = comparer.pairs.reference, comparer.reference.graph
    node = graph.producers.get(pairs[found.value])
    operands = None if node is None or node.picks is None else _operands(comparer, found)
    if node is None or node.picks is None or operands is None:
        return False
    wanted, ours = node.outputs[:2], {pairs[value]: value for value in pairs if pairs[value] in node.outputs}
    try:
        here = comparer.model.observe([ours[value] for value in wanted if value in ours])
        arrays = {value: _computed(comparer, operands, value) for value in (node.inputs[0], *wanted)}
    except FAILURES:
        return False
    scores = arrays[node.inputs[0]]
    expected, found_here = ([known.get(value) for value in wanted] for known in (arrays, {o: here[v] for o, v in ours.items()}))
    return scores is not None and node.picks.allow(scores, expected, found_here)


def _operands(comparer: Comparer, found: SearchResult) -> _Operands | None:
    """Return the model's values; None if sizes differ in the reference, or a side refuses."""
    sources = list(found.sources)
    try:
        here = comparer.model.observe([*sources, found.value])
        arrays = comparer.values_of_reference(sources)
    except FAILURES:
        return None
    given = comparer.given_to_reference(sources, here, arrays)
    return None if given is None else _Operands(here, given)


def _computed(comparer: Comparer, operands: _Operands, value: Value) -> NDArray[Any] | None:
    """Compute a value of the reference from the model's operands; None if it cannot be extracted."""
    if value in operands.given:
        return operands.given[value].array
    part = comparer.reference.part(operands.given, {value: comparer.reference.graph.label(value)})
    if part is None:
        return comparer.reference.constant(value)
    (output,) = part.run(operands.arrays)
    return output
