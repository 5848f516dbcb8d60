"""Comparison of an ONNX model's outputs with those of its conversion.

Floating-point outputs of a model that computes may differ by TOLERANCE relative to the largest value, because runtimes sum in
different orders. Rounding through a hundred layers stays below this, and a row gathered from elsewhere exceeds it. Smaller
errors go unnoticed; therefore each gather is also executed alone, on its operands in onnxruntime, and must be exact. Outputs of
models that only move data, and all integers, booleans and strings, must be exact. A tolerance that users give replaces this
rule: one for all outputs where numbers need not be exact, one for a named output in any case.

Exceptions, all reported in the table:

1. An output depends on a TopK, ArgMax or ArgMin whose candidates are equal or within NEAR (relative to the largest), and the
   conversion computes other candidates. Equal candidates are no excuse if both models compute the same ones.
2. An output depends on a random node, and differs from run to run in onnxruntime.
3. An output is what onnxruntime computes of inputs whose integers have wrapped around at 32 bits.
4. onnxruntime itself computes other values without optimisation: NOISE times that error is permitted, unless users gave a
   tolerance.
5. onnxruntime saturates products of bytes, or the output differs by less than a quantisation changes it: `quantisation.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.arrays import NARROWED, compare_arrays
from ov_gather.crosscheck.models.nondeterminism import dependents
from ov_gather.crosscheck.results import OutputResult, Status
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Tolerances
from ov_gather.crosscheck.verdict import deviation_of, first_difference
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ops.table import ONNX, OpKind, where
from ov_gather.runtimes.base import Runtime

NEAR = 1e-5
NOISE = 10
ROUNDING = "rounding-decides"
_EXACT = where(ONNX, lambda op: not op.meaning.computes)
"""Operators that only move or convert data, and so are exact: a Cast rounds alike in every runtime."""
_PICKS = where(ONNX, lambda op: op.kind is OpKind.ORDER)


def compare_outputs(
    model: onnx_ir.Model,
    expected: Sequence[NDArray[Any]],
    found: Sequence[NDArray[Any]],
    runtime: str,
    excuses: Sequence[tuple[str, str, Mapping[str, onnx_ir.Node]]] = (),
    tolerances: Tolerances = NO_TOLERANCES,
) -> tuple[OutputResult, ...]:
    """Compare each output of an ONNX model with that of its conversion.

    Each of `excuses` is the name of a divergence, the words to add to the detail of an excused output, and a map from the names
    of excused values to the node that explains them.
    """
    exact = all(node.op_type in _EXACT for node in model.graph.all_nodes())
    results = []
    for i, value in enumerate(model.graph.outputs):
        tolerance = tolerances.of_output(str(value.name))
        comparison = compare_arrays(expected[i], found[i] if i < len(found) else None, runtime, exact, tolerance)
        is_alike = i < len(found) and (expected[i].dtype, expected[i].ndim) == (found[i].dtype, found[i].ndim)
        for name, words, nodes in excuses if is_alike else ():
            node = nodes.get(str(value.name))
            if node and not comparison.passed:
                detail = f"{comparison.detail}; {words} {node.op_type} '{node.name}'"
                comparison = replace(comparison, status=Status.EXPECTED, detail=detail, divergences=(name,))
        results.append(OutputResult(str(value.name), str(expected[i].dtype), expected[i].shape, comparison))
    return tuple(results)


def narrowed(inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the inputs with their 64-bit integers wrapped around at 32 bits; empty if all fit in 32 bits."""
    wrapped = {
        name: array.astype(np.int32).astype(array.dtype) if array.dtype.kind in "iu" and array.dtype.itemsize == 8 else array
        for name, array in inputs.items()
    }
    is_changed = any(array is not wrapped[name] and not np.array_equal(array, wrapped[name]) for name, array in inputs.items())
    return wrapped if is_changed else {}


def excuse_narrowing(
    results: Sequence[OutputResult], narrow: Sequence[NDArray[Any]], found: Sequence[NDArray[Any]]
) -> tuple[OutputResult, ...]:
    """Excuse failed outputs that are those of narrowed inputs (`narrow`)."""
    return tuple(
        replace(result, comparison=replace(result.comparison, status=Status.EXPECTED, divergences=(NARROWED,)))
        if not result.comparison.passed and i < len(found) and not first_difference(narrow[i], found[i])
        else result
        for i, result in enumerate(results)
    )


def excuse_rounding(
    results: Sequence[OutputResult],
    expected: Sequence[NDArray[Any]],
    plain: Sequence[NDArray[Any]],
    found: Sequence[NDArray[Any]],
) -> tuple[OutputResult, ...]:
    """Excuse failed outputs that onnxruntime also computes differently without optimisation (`plain`).

    An output with a tolerance is not excused: the tolerance says how much rounding is permitted.
    """
    return tuple(
        result
        if result.comparison.passed or result.comparison.tolerance or i >= len(found)
        else _excused(result, expected[i], plain[i], found[i])
        for i, result in enumerate(results)
    )


def _excused(result: OutputResult, expected: NDArray[Any], plain: NDArray[Any], found: NDArray[Any]) -> OutputResult:
    noise, error = off(expected, plain), off(expected, found)
    if noise == 0 or error > NOISE * noise:
        return result
    detail = f"{result.comparison.detail}; onnxruntime itself computes other values where it does not optimise the model"
    excused = replace(result.comparison, status=Status.EXPECTED, detail=detail, divergences=(ROUNDING,))
    return replace(result, comparison=excused)


def off(expected: NDArray[Any], found: NDArray[Any]) -> float:
    """Return the largest absolute error of floats, or the number of other elements that differ; infinity if shapes differ."""
    deviation = deviation_of(expected, found)
    if deviation is None or deviation.not_finite:
        return np.inf
    return deviation.max_abs or 0 if expected.dtype.kind == "f" else deviation.differing


def scores(model: onnx_ir.Model) -> list[tuple[onnx_ir.Node, onnx_ir.Value]]:
    """Return the TopK, ArgMax and ArgMin nodes of the main graph, each with its candidates."""
    return [(node, node.inputs[0]) for node in model.graph if node.op_type in _PICKS and node.inputs[0] is not None]


def near_ties(
    model: onnx_ir.Model, inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any], converted: Mapping[str, NDArray[Any]]
) -> dict[str, onnx_ir.Node]:
    """Map the name of each value that depends on a pick decided by rounding to the first such node.

    `converted` has the candidates as the conversion computes them, by name, if it has them. Raises RefusedError, CrashedError.
    """
    picks = scores(model)
    arrays = intermediates.values(model, [given for _, given in picks], inputs, runtime)
    near = []
    for (node, given), array in zip(picks, arrays, strict=True):
        here = converted.get(str(given.name))
        if (here is None or not np.array_equal(array, here)) and _is_near(node, array, with_equal=here is not None):
            near.append(node)
    return dependents(model, near)


def _is_near(node: onnx_ir.Node, scores: NDArray[Any], *, with_equal: bool) -> bool:
    """Return True if a near tie exists among the picked values, or between the last picked and the first rejected one."""
    default = -1 if node.op_type == "TopK" else 0
    axis = attribute(node, "axis", default)
    largest = node.op_type != "ArgMin" and attribute(node, "largest", 1) == 1
    ordered = np.sort(np.moveaxis(scores, axis, -1).astype(np.float64))
    ordered = ordered[..., ::-1] if largest else ordered
    count = _picked(node, axis, ordered.shape[-1])
    gaps = np.abs(np.diff(ordered[..., : count + 1]))
    scale = np.abs(scores[np.isfinite(scores)]).max(initial=0)
    return bool(((gaps <= NEAR * scale) & (with_equal | (gaps > 0))).any())


def _picked(node: onnx_ir.Node, axis: int, size: int) -> int:
    """Return how many values a node picks along the axis; all of them if unknown."""
    if node.op_type != "TopK":
        return 1
    shape = node.outputs[0].shape
    picked = size if shape is None else shape[axis]
    return picked if isinstance(picked, int) else size
