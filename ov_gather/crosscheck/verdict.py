"""Verdict on a runtime's result: bit-exact, explained by a known divergence, or failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import Deviation, beyond, is_number, measure, unequal
from ov_gather.crosscheck.histogram import histogram
from ov_gather.crosscheck.references import compute, confirm
from ov_gather.crosscheck.results import Comparison, Difference, Status
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.divergences.base import CPU, Divergence, Observed
from ov_gather.divergences.conditions import reduces_floats
from ov_gather.divergences.register import DIVERGENCES, explaining
from ov_gather.ir.element_types import F32, F64, ElementType, by_dtype
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.reference import evaluate
from ov_gather.ops.scatter_lanes import are_nan
from ov_gather.ops.spec import Operation
from ov_gather.system.worker import CrashedError, HungError

Outcome = NDArray[Any] | Exception
"""Output of a case, or the error raised instead. The reference raises only for out-of-bounds indices."""
Outcomes = Sequence[NDArray[Any]] | Exception
"""All outputs of a case, or the error raised instead."""

_PICTURE = 16, 32


@dataclass(frozen=True, slots=True)
class Observation:
    """Outcome of a case on a runtime, and its execution time in seconds; None if nothing was executed."""

    outcome: Outcome
    seconds: float | None = None


def reference_outcome(view: LayerView, inputs: Sequence[NDArray[Any]], *, anew: bool = False) -> Outcomes:
    """Compute the expected outcome: outputs, or an IndexError; `anew`, a user's in a new process."""
    try:
        if not _computes_in_f32(view):
            return compute(view, inputs, anew=anew)
        narrowed = [array.astype(np.float32) if array.dtype == np.float64 else array for array in inputs]
        outputs = compute(view, narrowed, anew=anew)
        types = view.operation.infer_types(view.input_types)
        return [output.astype(np.float64) if kind is F64 else output for output, kind in zip(outputs, types, strict=True)]
    except IndexError as error:
        return error


def confirm_failure(view: LayerView, operands: Sequence[NDArray[Any]], right: Outcomes, found: Sequence[Comparison]) -> None:
    """Raise OperationError if something failed because the reference of a user is not the same in a new process."""
    if not view.is_of_family and not isinstance(right, Exception) and not all(one.passed for one in found):
        confirm(view, right, reference_outcome(view, operands, anew=True))


def _computes_in_f32(view: LayerView) -> bool:
    """Return True if OpenVINO's CPU plugin has a library compute f64 in f32."""
    return not view.is_of_family and F64 in view.input_types


def of_all_outputs(
    outputs: Sequence[str],
    expected: Outcomes,
    found: Outcomes,
    judge_one: Callable[[Outcome, Outcome], Comparison],
) -> Comparison:
    """Compare the outputs of an operation, by name; the result is that of the first one that fails."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        return judge_one(
            expected if isinstance(expected, Exception) else expected[0], found if isinstance(found, Exception) else found[0]
        )
    results = [judge_one(one, other) for one, other in zip(expected, found, strict=True)]
    name, result = next(((name, one) for name, one in zip(outputs, results, strict=True) if not one.passed), ("", results[0]))
    return replace(result, detail=f"{name}: {result.detail}") if name and len(outputs) > 1 else result


def judge(
    runtime: str,
    version: str,
    expected: Outcome,
    observation: Observation,
    view: LayerView,
    operands: Sequence[NDArray[Any]],
    devices: Sequence[str] = CPU,
) -> Comparison:
    """Compare a runtime's result for a layer and its operands with the expected outcome; `devices` are OpenVINO's."""
    found = observation.outcome
    if not (isinstance(expected, Exception) or isinstance(found, Exception)):
        found = with_expected_nan(expected, found, view, operands)
    difference = difference_of(view.operation, expected, found, F32 if _computes_in_f32(view) else None)
    observed = observed_as(expected, found, difference)
    detail = _detail(expected, found, difference)
    where = difference if isinstance(difference, Difference) else None
    off = deviation_of(expected, found) if difference else None
    if observed is None:
        return Comparison(runtime, Status.PASSED, "both refuse", seconds=observation.seconds)
    for known in explaining(runtime, version, observed, view, operands, devices):
        if is_predicted_by(known, view, operands, found):
            return Comparison(runtime, Status.EXPECTED, detail, (known.name,), where, observation.seconds, deviation=off)
    if detail:
        hangs = isinstance(found, HungError)
        return Comparison(runtime, Status.FAILED, detail, (), where, observation.seconds, hangs=hangs, deviation=off)
    stale = tuple(_stale(runtime, version, found, view, operands, devices))
    return Comparison(runtime, Status.PASSED, seconds=observation.seconds, stale=stale)


def _stale(
    runtime: str, version: str, found: Outcome, view: LayerView, operands: Sequence[NDArray[Any]], devices: Sequence[str]
) -> Iterator[str]:
    """Yield the applicable divergences that a correct result contradicts: they predict another result, or only a refusal."""
    for known in DIVERGENCES if view.is_of_family else ():
        if not known.concerns(runtime, version, view.operation.name, devices) or not known.applies(view, operands):
            continue
        if known.observed == (Observed.REFUSES,) or (known.predicts and not is_predicted_by(known, view, operands, found)):
            yield known.name


def observed_as(expected: Outcome, found: Outcome, difference: Difference | str) -> Observed | None:
    """Classify a runtime's behaviour; None if it refuses, as expected."""
    if isinstance(found, CrashedError):
        return Observed.CRASHES
    if isinstance(found, Exception):
        return None if isinstance(expected, Exception) else Observed.REFUSES
    if isinstance(expected, Exception):
        return Observed.ANSWERS
    return Observed.DIFFERS if difference else Observed.AGREES


def _detail(expected: Outcome, found: Outcome, difference: Difference | str) -> str:
    """Describe how a runtime's outcome deviates, for users; "" if it does not."""
    if isinstance(found, CrashedError):
        return str(found)
    if isinstance(found, Exception):
        return "" if isinstance(expected, Exception) else f"refuses: {found}"
    return f"answers, but {expected}" if isinstance(expected, Exception) else str(difference)


def is_predicted_by(known: Divergence, view: LayerView, operands: Sequence[NDArray[Any]], found: Outcome) -> bool:
    """Return True if the divergence predicts or permits each element found. One without a prediction permits any result."""
    if known.predicts is None and known.permits is None:
        return True
    try:
        if known.permits and not isinstance(found, Exception):
            return bool(known.permits(view, operands, found).all())
        if known.predicts is None:
            return True
        permitted = known.predicts(view, operands)
    except IndexError:
        return False
    if isinstance(found, Exception):
        return True
    if any((array.shape, array.dtype) != (found.shape, found.dtype) for array in permitted):
        return False
    alike = [~unequal(array, with_expected_nan(array, found, view, operands)) for array in permitted]
    return bool(np.logical_or.reduce(alike).all())


def with_expected_nan(
    expected: NDArray[Any], found: NDArray[Any], view: LayerView, operands: Sequence[NDArray[Any]]
) -> NDArray[Any]:
    """Return an output with the expected bits in each NaN that a reduction computed.

    No rule says which sign and payload such a NaN has. Those of elements that are only copied stay as they were found.
    """
    if not reduces_floats(view, operands) or (expected.shape, expected.dtype) != (found.shape, found.dtype):
        return found
    attributes = view.attributes_for(operands)
    is_nan = are_nan(expected, attributes) & are_nan(found, attributes)
    return np.where(is_nan & _updated(view, operands, attributes), expected, found) if is_nan.any() else found


def _updated(view: LayerView, operands: Sequence[NDArray[Any]], attributes: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return a mask of the elements of data that a scatter updates; all of them if an index is out of bounds."""
    data, indices, updates, *others = operands
    marked = [np.zeros(data.shape, np.int32), indices, np.ones(updates.shape, np.int32), *others]
    try:
        return np.asarray(evaluate(view.operation, marked, {**attributes, "reduction": "none"}) != 0)
    except IndexError:
        return np.ones(data.shape, bool)


def first_difference(expected: Outcome, found: Outcome) -> Difference | str:
    """Return the first bitwise difference between two outputs; "" if they are equal, or either outcome is an error."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        return ""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"expected {expected.dtype}{list(expected.shape)}, here {found.dtype}{list(found.shape)}"
    return difference_at(unequal(expected, found), expected, found)


def difference_of(
    operation: Operation, expected: Outcome, found: Outcome, computed_in: ElementType | None = None
) -> Difference | str:
    """Return the first difference that the operation does not permit; "" if there is none, or either outcome is an error.

    The element type that decides is that of the output, or `computed_in`, if given.
    """
    difference = first_difference(expected, found)
    if isinstance(expected, Exception) or isinstance(found, Exception) or not isinstance(difference, Difference):
        return difference
    tolerance = Tolerance(*operation.permitted(computed_in or by_dtype(expected.dtype)))
    has_tolerance = (tolerance.atol or tolerance.rtol) and is_number(expected.dtype)
    return difference_beyond(tolerance, expected, found) if has_tolerance else difference


def deviation_of(expected: Outcome, found: Outcome) -> Deviation | None:
    """Return how far an output is from the expected one; None if either is an error, or their shapes or types differ."""
    if isinstance(expected, Exception) or isinstance(found, Exception) or expected.dtype != found.dtype:
        return None
    return measure(expected, found)


def difference_beyond(tolerance: Tolerance, expected: NDArray[Any], found: NDArray[Any]) -> Difference | str:
    """Return a description of the numbers that differ by more than the tolerance; "" if none does."""
    return difference_at(beyond(expected, found, tolerance.permitted), expected, found)


def difference_at(different: NDArray[np.bool_], expected: NDArray[Any], found: NDArray[Any]) -> Difference | str:
    """Return a description of the elements that differ, given their mask; "" if none does."""
    if not different.any():
        return ""
    position = tuple(map(int, np.unravel_index(int(np.argmax(different)), expected.shape)))
    return Difference(
        position,
        str(expected[position]),
        str(found[position]),
        int(different.sum()),
        different.size,
        _picture(different),
        histogram(expected[different], found[different]) if expected.dtype == found.dtype else (),
    )


def _picture(different: NDArray[np.bool_]) -> tuple[tuple[float, ...], ...]:
    rows = different.reshape(-1, different.shape[-1] if different.ndim else 1)
    pieces = (
        np.array_split(band, min(_PICTURE[1], rows.shape[1]), 1) for band in np.array_split(rows, min(_PICTURE[0], len(rows)))
    )
    return tuple(tuple(round(float(piece.mean()), 3) for piece in band) for band in pieces)
