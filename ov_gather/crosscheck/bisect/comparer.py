"""Comparison of the values of both sides, and excuses for differences.

A difference is excused if the reference computes or permits the model's result, given the model's operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.correspondence import Pairs
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.bisect.results import ComparedValue
from ov_gather.crosscheck.bisect.rounding import Rounding, Share, difference, errors, largest_error
from ov_gather.crosscheck.bisect.search import CutObservation, SearchResult
from ov_gather.crosscheck.bisect.sides import Part, Replacement, Side
from ov_gather.crosscheck.deviation import measure
from ov_gather.crosscheck.models.nondeterminism import picks_of
from ov_gather.crosscheck.models.quantisation import quantum, within_quantisation
from ov_gather.crosscheck.results import Difference
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.graph.protocol import Key
from ov_gather.runtimes.base import FAILURES

Arrays = Mapping[Key, NDArray[Any]]

NEIGHBOURS = 4
"""Number of random perturbations of operands that estimate the effect of rounding on the result."""
NEIGHBOURS_OF_FUSED = 16
"""The same for fused nodes: rounding may decide between two results, and both must occur."""


@dataclass
class Comparer:
    """Compares values of a model with those of its reference.

    Attributes:
        pairs: corresponding values of the model and the reference.
        outputs: corresponding outputs of the model and the reference.
        tolerances: tolerances of outputs by name.
        records: the observations so far, by value.
        noisy: differences that do not exceed the reference's own noise.
    """

    reference: Side
    model: IRSide
    pairs: Pairs
    outputs: Mapping[Key, Key]
    rounding: Rounding
    tolerances: Mapping[Key, Tolerance] = field(default_factory=dict)
    records: dict[Key, ComparedValue] = field(default_factory=dict)
    noisy: dict[Key, Difference | str] = field(default_factory=dict)

    def compare_outputs(self) -> dict[Key, Difference | str]:
        """Compare the outputs, except random ones. Raises RefusedError, CrashedError, IndexError."""
        return self._compare([], list(self.outputs))

    @property
    def noisy_outputs(self) -> dict[Key, Difference | str]:
        """Differences of outputs that do not exceed the reference's own noise."""
        return {value: text for value, text in self.noisy.items() if value in self.outputs}

    def observe(self, values: Sequence[Key], wrong: Key) -> CutObservation:
        """Compare some values, and check whether a wrong output is still wrong in this execution."""
        found = self._compare(values, [wrong] if wrong in self.outputs else [])
        differing = frozenset(value for value in values if found[value])
        return CutObservation(differing, wrong not in found or bool(found[wrong]))

    def values_of_reference(self, values: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        """Return the reference's counterparts of values of the model. Raises RefusedError, CrashedError, IndexError."""
        theirs = [self.pairs.reference[value] for value in values]
        is_known = all(other in self.reference.outputs for other in theirs)  # else each run compiles the reference anew
        found = self.reference.outputs if is_known else self.reference.observe(theirs)
        return {value: found[other] for value, other in zip(values, theirs, strict=True)}

    def is_cause(self, values: Sequence[Key], wrong: Key) -> bool:
        """Return False if a wrong output does not change when the values are exchanged between the two models, in either model.

        If the model uses a value elsewhere than the reference does, only the reference shows the effect.
        """
        expected = self.values_of_reference([*values, wrong])
        label = self.model.graph.label
        theirs = {value: Replacement(f"{label(value)} (reference)", expected[value]) for value in values}
        share = self.rounding.share_of_outputs(1)
        try:
            here = self.model.observe(values)
            after = self.model.computed_from(theirs, wrong)
            if after is None or difference(here[wrong], after, share):
                return True
            ours = self.given_to_reference(values, here, expected)
            if ours is None:
                return False
            after = self.reference.computed_from(ours, self.pairs.reference[wrong])
        except FAILURES:
            return True
        return after is not None and bool(difference(expected[wrong], after, share))

    def given_to_reference(self, values: Sequence[Key], here: Arrays, expected: Arrays) -> dict[Key, Replacement] | None:
        """Return the model's values in the reference's names, types and shapes; None if sizes differ."""
        if any(here[value].size != expected[value].size for value in values):
            return None
        return {
            self.pairs.reference[value]: Replacement(
                self.name(value), here[value].astype(expected[value].dtype).reshape(expected[value].shape)
            )
            for value in values
        }

    def within_quantisation(self, wrong: Key) -> str:
        """Return how a wrong output relates to what the dynamic quantisation of the reference changes; "" if it is wrong."""
        try:
            exact = self.reference.without_quantisation().get(self.pairs.reference[wrong])
        except FAILURES:
            return ""
        if exact is None or wrong not in self.outputs:
            return ""
        expected, here = self.values_of_reference([wrong])[wrong], self.model.observe([])[wrong]
        return within_quantisation(expected, exact, here, self.model.title)

    def share(self, value: Key) -> Share:
        """Return the relative error of a value that rounding may cause, or the tolerance for all values."""
        return self.rounding.share(1 + self.model.graph.order.get(value, 0))

    def name(self, value: Key) -> str:
        """Return the reference's name of a value, so that the parts of both sides have the same names."""
        other = self.pairs.reference.get(value)
        return self.model.graph.label(value) if other is None else self.reference.graph.label(other)

    def record(self, value: Key) -> ComparedValue:
        """Return the observation of a value; inputs of the model and unobserved values are equal."""
        if value in self.records:
            return self.records[value]
        graph = self.model.graph
        other = self.pairs.reference.get(value)
        name = "" if other is None else self.reference.graph.label(other)
        how = "given" if value in graph.inputs.values() else self.pairs.by.get(value, "")
        return ComparedValue(graph.label(value), name, "", how, "equal")

    def _compare(self, values: Sequence[Key], outputs: Sequence[Key]) -> dict[Key, Difference | str]:
        wanted = list(dict.fromkeys([*values, *outputs]))
        is_known = all(value in self.model.outputs for value in wanted)
        found = self.model.outputs if is_known else self.model.observe([value for value in wanted if value not in self.outputs])
        expected = self.values_of_reference(wanted)
        shares = {value: self.share(value) for value in wanted}
        for value in outputs:
            usual = self.rounding.share_of_outputs(1 + self.model.graph.order.get(value, 0))
            shares[value] = self.tolerances.get(value, usual)
        different = {value: difference(expected[value], found[value], shares[value]) for value in wanted}
        suspicious = [
            value for value in wanted if isinstance(different[value], Difference) and isinstance(shares[value], float)
        ]
        for value, noise in self._noise(suspicious, expected).items():
            beyond = difference(expected[value], found[value], shares[value], noise) if noise else different[value]
            if not beyond:
                self.noisy[value] = different[value]
            different[value] = beyond
        for value in wanted:
            self._record(value, expected[value], found[value], different[value])
        return different

    def _noise(self, values: Sequence[Key], expected: Arrays) -> dict[Key, float]:
        """Return how far the reference is off from itself without optimisation, by value; nothing if it refuses."""
        if not values:
            return {}
        theirs = [self.pairs.reference[value] for value in values]
        try:
            plain = self.reference.observe(theirs, plain=True)
        except FAILURES:
            return {}
        return {value: largest_error(expected[value], plain[other]) for value, other in zip(values, theirs, strict=True)}

    def _record(self, value: Key, expected: NDArray[Any], array: NDArray[Any], found: Difference | str) -> None:
        where = found if isinstance(found, Difference) else None
        off = measure(expected, array.reshape(expected.shape)) if array.size == expected.size else None
        self.records[value] = ComparedValue(
            self.model.graph.label(value),
            self.reference.graph.label(self.pairs.reference[value]),
            f"{array.dtype}{list(array.shape)}",
            self.pairs.by.get(value, ""),
            str(found) or "equal",
            where,
            off,
        )


@dataclass(frozen=True)
class _Operands:
    """The model's values of a difference and its sources; and the sources in the reference's names, types and shapes."""

    here: Mapping[Key, NDArray[Any]]
    given: Mapping[Key, Replacement]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        return [each.array for each in self.given.values()]


def is_rounding(comparer: Comparer, found: SearchResult) -> bool:
    """Return True if the reference computes the model's value from the model's operands, or from operands as near to them."""
    operands = _operands(comparer, found)
    part = None if operands is None else _part(comparer, operands, found.value)
    if operands is None or part is None:
        return False
    here = operands.here[found.value]
    try:
        (output,) = part.run(operands.arrays)
        if not difference(output, here, comparer.share(found.value)):
            return True
        if comparer.rounding.tolerance:  # says how much rounding is permitted
            return False
        node = comparer.model.graph.producers.get(found.value)  # none computes a constant
        noise = np.full(output.shape, comparer.rounding.noise_of("" if node is None else node.type))
        for seed in range(NEIGHBOURS):
            (other,) = part.run(comparer.rounding.neighbours(operands.arrays, seed))
            noise = np.maximum(noise, errors(output, other))
    except FAILURES:
        return False
    return not difference(output, here, comparer.share(found.value), noise)


def left_by_quantisation(comparer: Comparer, found: SearchResult) -> str:
    """Return what a quantised reference leaves open of a difference, for the model's operands; "" if it is nothing.

    1. The model has the exact products of bytes, which onnxruntime may saturate.
    2. A quantisation of the reference rounds a few elements otherwise, by one quantum.
    """
    node, operands = comparer.reference.graph.producers.get(comparer.pairs.reference[found.value]), _operands(comparer, found)
    part = None if operands is None else _part(comparer, operands, found.value)
    if node is None or operands is None or part is None:
        return ""
    here, exact = operands.here[found.value], part.with_exact_products()
    try:
        if exact and not difference(exact.run(operands.arrays)[0], here, comparer.share(found.value)):
            return "has the exact products of bytes, which onnxruntime saturates"
        (output,) = part.run(operands.arrays)
    except FAILURES:
        return ""
    words = quantum(node.type, measure(output, here)) if output.shape == here.shape else ""
    return words and f"differs by {words}"


def is_rounding_of_fused(comparer: Comparer, found: SearchResult, wrong: Key) -> bool:
    """Return True if rounding of operands explains an output that becomes right as soon as an inner value is observed."""
    operands = _operands(comparer, found)
    if operands is None or comparer.rounding.tolerance:
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
    picks = None if node is None else picks_of(node)
    operands = None if picks is None else _operands(comparer, found)
    if node is None or picks is None or operands is None:
        return False
    wanted, ours = node.outputs[:2], {pairs[value]: value for value in pairs if pairs[value] in node.outputs}
    try:
        here = comparer.model.observe([ours[value] for value in wanted if value in ours])
        arrays = {value: _computed(comparer, operands, value) for value in (node.sources[0], *wanted)}
    except FAILURES:
        return False
    scores = arrays[node.sources[0]]
    expected, found_here = ([known.get(value) for value in wanted] for known in (arrays, {o: here[v] for o, v in ours.items()}))
    return scores is not None and picks.allow(scores, expected, found_here)


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


def _part(comparer: Comparer, operands: _Operands, value: Key) -> Part | None:
    """Return the part of the reference that computes a value from operands; None if it cannot be extracted."""
    return comparer.reference.part(operands.given, {comparer.pairs.reference[value]: comparer.name(value)})


def _computed(comparer: Comparer, operands: _Operands, value: Key) -> NDArray[Any] | None:
    """Compute a value of the reference from the model's operands; None if it cannot be extracted."""
    if value in operands.given:
        return operands.given[value].array
    part = comparer.reference.part(operands.given, {value: comparer.reference.graph.label(value)})
    if part is None:
        return comparer.reference.constant(value)
    (output,) = part.run(operands.arrays)
    return output
