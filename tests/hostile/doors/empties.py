"""`convert_model` on single operators with an operand without elements, of static and of open shapes.

The operators and their other operands are those of ONNX's own node tests; the oracle is onnxruntime without optimisations.
A result is right, or reported, or the model is refused, in the conversion or by an error. A crash is a finding.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.backend.test.case.node import collect_testcases

from helpers.converted_nodes import check_conversion
from ov_gather.ops.table import ONNX

TRIALS = 100
SECONDS = 120
OPERATORS = 8
"""Operators that one seed tries; those of consecutive seeds follow each other."""
LEFT = {
    "BatchNormalization": "in training it is no part of inference",
    "Einsum": "a diagonal of nothing ends the process",
    "Flatten": "of an open shape: OpenVINO's Reshape takes a size of 0 for another one",
    "Unique": "of nothing: refused, or reported by its possible sizes",
}
"""Operators that are known not to hold yet, and why."""

Arrays = list[NDArray[np.generic]]


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Convert and execute some operators, each with an empty operand."""
    with contextlib.redirect_stdout(io.StringIO()):
        cases = [case for case in collect_testcases(None) if _is_single(case.model) and _arrays(case)]
    names = sorted({case.model.graph.node[0].op_type for case in cases} - LEFT.keys())
    for name in rng.choice(names, OPERATORS, replace=False):
        case = rng.choice([case for case in cases if case.model.graph.node[0].op_type == name])
        arrays = _emptied(rng, _arrays(case))
        is_open = bool(rng.integers(2))
        told = f"{case.name} of {[array.shape for array in arrays]}, {'open' if is_open else 'static'}"
        check_conversion(_declared(case.model, arrays, is_open=is_open), arrays, told)


def _is_single(model: onnx.ModelProto) -> bool:
    return len(model.graph.node) == 1 and not model.graph.node[0].domain and model.graph.node[0].op_type in ONNX


def _arrays(case: object) -> Arrays:
    """Return the inputs of a test; none if they are no tensors of numbers, or if none has an axis."""
    given = case.data_sets[0][0]  # type: ignore[attr-defined]
    is_plain = all(isinstance(array, np.ndarray) and array.dtype.kind in "fiub" for array in given)
    return list(given) if is_plain and any(array.ndim for array in given) else []


def _emptied(rng: np.random.Generator, arrays: Arrays) -> Arrays:
    """Return the arrays, one of them without elements along an axis, and often also those of the same size there."""
    chosen = int(rng.choice([i for i, array in enumerate(arrays) if array.ndim]))
    ndim, axis = arrays[chosen].ndim, int(rng.integers(arrays[chosen].ndim))
    size, is_alone = arrays[chosen].shape[axis], rng.random() < 0.3
    alike = [i == chosen or (not is_alone and one.ndim == ndim and one.shape[axis] == size) for i, one in enumerate(arrays)]
    return [np.take(array, [], axis) if is_like else array for array, is_like in zip(arrays, alike, strict=True)]


def _declared(model: onnx.ModelProto, arrays: Arrays, *, is_open: bool) -> onnx.ModelProto:
    """Return a copy of a model with the shapes of arrays, or with open sizes."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for value, array in zip(made.graph.input, arrays, strict=True):
        shape = value.type.tensor_type.shape
        shape.ClearField("dim")
        for axis, size in enumerate(array.shape):
            shape.dim.add(**({"dim_param": f"{value.name}_{axis}"} if is_open else {"dim_value": size}))
    for value in made.graph.output:
        value.type.tensor_type.ClearField("shape")
    return made
