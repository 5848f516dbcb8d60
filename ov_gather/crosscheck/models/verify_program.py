"""Verification of a converted model against its exported PyTorch program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import DEFAULT_SEED
from ov_gather.crosscheck.comparisons import OutputResult
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.inputs.onnx import NoInputsError
from ov_gather.crosscheck.models.outputs import compare_arrays, missing
from ov_gather.crosscheck.results import CrossCheckResult, Environment
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.ops.meanings import OPENVINO, operators
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.system.extras import require

_EXECUTED_BY = {"stock": "openvino", "extension": "extension"}
_EXACT = operators(OPENVINO, lambda meaning: not meaning.computes) | {"Parameter", "Const", "Result"}
"""Layer types that do not round."""

Inputs = Mapping[str, NDArray[Any]]


def verify_program(program_path: Path, ir_path: Path, *, inputs: Inputs | None, target: str) -> CrossCheckResult:
    """Execute an exported program on PyTorch and its conversion on OpenVINO, with the same inputs, and compare.

    Args:
        program_path: the .pt2.
        ir_path: the .xml of the conversion.
        inputs: arrays by input name; if not given, the example inputs of the export, or generated ones if it has none.
        target: the target of the conversion, "stock" or "extension" operations.

    Returns:
        A result with `.passed` and `.table()`. `.not_run` is why nothing was compared.

    Raises:
        ImportError: PyTorch is not installed.
        OSError: a file cannot be read.
        TypeError, ValueError: the inputs do not fit the program.
    """
    require("torch")
    model = read_ir(ir_path)
    with borrowed(["torch", _EXECUTED_BY[target]]) as (origin, runtime):
        result = CrossCheckResult((), DEFAULT_SEED, Environment.of([origin, runtime]), original=str(program_path))
        try:
            with origin:
                origin.activate(program_path.resolve())
                names = origin.ask("output_names")
                arrays, expected = _executed(origin, model, inputs)
        except (RefusedError, CrashedError) as error:
            return replace(result, not_run=f"PyTorch does not execute the program: {error}")
        except NoInputsError as error:
            return replace(result, not_run=f"{error}: give --input")
        found = runtime.run(ir_path.resolve(), [arrays[layer.name] for layer in model.of_type("Parameter")])
    if isinstance(found, Exception):
        return replace(result, inputs=arrays, problem=f"{runtime.name} does not execute the result: {found}")
    exact = all(layer.type in _EXACT for layer in model.layers)
    outputs = []
    for i, (name, array) in enumerate(zip(names, expected, strict=True)):
        compared = compare_arrays(array, found[i], runtime.name, exact) if i < len(found) else missing(runtime.name)
        outputs.append(OutputResult(name, str(array.dtype), array.shape, compared))
    return replace(result, inputs=arrays, outputs=tuple(outputs))


def _executed(origin: IsolatedRuntime[Any], model: Model, given: Inputs | None) -> tuple[Inputs, list[NDArray[Any]]]:
    """Choose inputs, and execute the program on them; return both the inputs and the outputs."""
    names = origin.ask("input_names")
    parameters = [layer.name for layer in model.of_type("Parameter")]
    if sorted(names) != sorted(parameters):
        raise NoInputsError(f"the inputs are {', '.join(names)} in the program, and {', '.join(parameters)} in the result")
    if given is not None:
        if given.keys() != set(names):
            raise ValueError(f"inputs are given for {', '.join(given) or 'nothing'}; the program needs {', '.join(names)}")
        arrays = {name: np.asarray(given[name]) for name in names}
    elif (examples := origin.ask("examples")) is not None:
        arrays = dict(zip(names, examples, strict=True))
    else:
        arrays = dict(zip(parameters, generate_inputs(model, DEFAULT_SEED), strict=True))
    return arrays, origin.execute([arrays[name] for name in names])
