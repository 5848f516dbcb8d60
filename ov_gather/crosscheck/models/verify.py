"""Verification of a converted model against the original: every output, and for ONNX, every gather on its own operands.

`outputs.py` defines how outputs are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.converters.nodes import fitted, single_gather
from ov_gather.crosscheck.cases.designed import operands
from ov_gather.crosscheck.defaults import DEFAULT_SEED
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.inputs.onnx import NoInputsError, check_inputs, made_up_inputs
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.arrays import compare_arrays
from ov_gather.crosscheck.models.intermediates import GatherTensors
from ov_gather.crosscheck.models.trials import ConversionTrial
from ov_gather.crosscheck.results import CaseResult, CrossCheckResult, Environment, LayerResult, OutputResult
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Tolerances
from ov_gather.crosscheck.verdict import Observation, judge
from ov_gather.extension.users import UserExtension
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.reference import evaluate
from ov_gather.ops.table import ENDS, OPENVINO, where
from ov_gather.runtimes.base import OnnxFile, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.system.imports import require
from ov_gather.system.worker import CrashedError

_EXECUTED_BY = {"stock": "openvino", "extension": "extension"}
"""The runtime for models converted for each target."""
_EXACT = where(OPENVINO, lambda op: not op.meaning.computes) | ENDS
"""Layer types that do not round."""

Arrays = Mapping[str, NDArray[Any]]


def verify_conversion(
    onnx_path: Path,
    ir_path: Path,
    *,
    inputs: Arrays | None = None,
    seed: int = DEFAULT_SEED,
    target: str = "stock",
    lanes: Mapping[str, tuple[str, str]] | None = None,
    tolerances: Tolerances = NO_TOLERANCES,
    extensions: tuple[UserExtension, ...] = (),
    readable: Path | None = None,
    step: Callable[[str], object] = str,
) -> CrossCheckResult:
    """Execute an ONNX model on onnxruntime and its conversion on OpenVINO, with the same inputs, and compare.

    Args:
        onnx_path: the original.
        ir_path: the .xml of the conversion.
        inputs: arrays by input name. If not given, inputs are generated, with one choice of open sizes after another until both
            runtimes accept them.
        seed: for generated inputs.
        target: the target of the conversion, "stock" or "extension" operations.
        lanes: for each input or output of the IR that is in lanes, by name: the original's name and the type of its numbers.
        tolerances: permitted differences of outputs, instead of the usual rule of `outputs.py`.
        extensions: operations of users in the IR.
        readable: what `weights_outside` yields for the original, if it is kept for several readers. The outputs that are
            expected are computed from the original file.
        step: called with each step, as text for people, before it is taken.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`. `.not_run` is why nothing was compared without being wrong.

    Raises:
        ImportError, FileNotFoundError: onnxruntime, or the extension, is not installed.
        OSError: a file cannot be read.
        TypeError, ValueError: a file is not a model; the inputs do not fit it; a tolerance is given for no output.
    """
    require("onnxruntime")  # fail early
    readable = readable or onnx_path
    model = intermediates.load(readable)
    original = OnnxFile(onnx_path.resolve(), intermediates.folder_of_data(model) if readable == onnx_path else None)
    tolerances.check_names([str(value.name) for value in model.graph.outputs])
    given = None if inputs is None else check_inputs(model, inputs)
    choices = made_up_inputs(model, seed) if given is None else [given]
    with _runtimes(target, extensions) as runtimes:
        origin, *others = runtimes
        nodes, in_bodies = intermediates.gathers(model)
        result = CrossCheckResult(
            (),
            seed,
            Environment.of(runtimes),
            original=str(onnx_path),
            in_bodies=tuple(f"{node.op_type} '{node.name}'" for node in in_bodies),
        )
        trial = ConversionTrial(model, original, ir_path, origin, others[-1], lanes or {}, tolerances, step)
        try:
            attempt = trial.run(choices)
            if attempt is None and given is None:
                refusals = f"onnxruntime accepts none of the inputs that were made up ({trial.refusals[0]}): give --input"
                return replace(result, not_run=refusals)
            if attempt is None:
                if given is not None and trial.target_refuses(given):
                    return replace(result, not_run=f"neither runtime accepts {trial.refusals[0]}")
                return replace(result, problem=f"onnxruntime does not execute the original: {trial.refusals[0]}")
            gathers = intermediates.tensors_of(model, nodes, attempt.inputs, origin)
            layers = tuple(
                _check_gather(gather, others, target, str(onnx_path)) for gather in _counted(gathers, len(nodes), step)
            )
        except NoInputsError as error:
            return replace(result, not_run=f"{error}: give --input")
        except (RefusedError, CrashedError) as error:
            return replace(result, not_run=f"onnxruntime does not execute the original: {error}", no_reference=True)
    result = replace(result, layers=layers, outputs=attempt.outputs, problem=attempt.problem, notes=attempt.notes)
    result = replace(result, inputs=attempt.inputs)
    if target == "extension" or result.passed or result.problem or not all(layer.passed for layer in layers):
        return result
    return replace(result, blamed=trial.blamed_gathers(attempt))


def _runtimes(target: str, extensions: tuple[UserExtension, ...]) -> AbstractContextManager[list[IsolatedRuntime[Any]]]:
    return borrowed(["onnxruntime", "kernel", _EXECUTED_BY[target]], extensions=extensions)


def start_early(target: str, extensions: tuple[UserExtension, ...]) -> None:
    """Start the processes that `verify_conversion` will need, so that they load their libraries while others work.

    Raises FileNotFoundError if the extension is not installed.
    """
    with _runtimes(target, extensions):
        pass


def _counted(gathers: Iterator[GatherTensors], total: int, step: Callable[[str], object]) -> Iterator[GatherTensors]:
    """Yield the gathers, and say before each which it is."""
    for number in range(1, total + 1):
        step(f"checking gather {number:,} of {total:,}")
        yield next(gathers)


def _check_gather(gather: GatherTensors, runtimes: Sequence[IsolatedRuntime[Any]], target: str, path: str) -> LayerResult:
    """Execute one gather alone, on its operands in the original, and compare with its output there."""
    node, stock = gather.node, target == "stock"
    tensors = fitted(node, gather.operands) if stock else gather.operands
    model = single_gather(node, tensors, gather.constant, target)
    arrays = [array for array, constant in zip(tensors, gather.constant, strict=True) if not constant]
    (view,) = family_layers(model)
    case = operands(view, arrays)
    attributes = view.attributes_for(case)
    # For strings, onnxruntime's Gather copies only the first element of each slice, so the reference is used.
    expected = evaluate(view.operation, case, attributes) if gather.output.dtype.hasobject else gather.output
    comparisons = []
    for runtime in runtimes:
        outputs = runtime.run(model, arrays)
        observation = Observation(outputs if isinstance(outputs, Exception) else outputs[0], runtime.seconds)
        comparisons.append(judge(runtime.name, runtime.version, expected, observation, view, case))
    return LayerResult(
        path,
        node.name or str(node.outputs[0].name),
        view.operation.name,
        {given.name: str(kind) for given, kind in zip(view.operation.inputs, view.input_types, strict=True)},
        {name: str(value) for name, value in attributes.items()},
        kernel_name(case[0].dtype),
        (CaseResult("captured", tuple(array.shape for array in case), 0, tuple(comparisons)),),
    )


def verify_program(
    program_path: Path,
    ir_path: Path,
    *,
    inputs: Arrays | None,
    target: str,
    tolerances: Tolerances = NO_TOLERANCES,
    extensions: tuple[UserExtension, ...] = (),
) -> CrossCheckResult:
    """Execute an exported program on PyTorch and its conversion on OpenVINO, with the same inputs, and compare.

    Args:
        program_path: the .pt2.
        ir_path: the .xml of the conversion.
        inputs: arrays by input name; if not given, the example inputs of the export, or generated ones if it has none.
        target: the target of the conversion, "stock" or "extension" operations.
        tolerances: permitted differences of outputs, instead of the usual rule of `outputs.py`.
        extensions: operations of users in the IR.

    Returns:
        A result with `.passed` and `.table()`. `.not_run` is why nothing was compared.

    Raises:
        ImportError: PyTorch is not installed.
        OSError: a file cannot be read.
        TypeError, ValueError: the inputs do not fit the program; a tolerance is given for no output.
    """
    require("torch")
    model = read_ir(ir_path)
    with borrowed(["torch", _EXECUTED_BY[target]], extensions=extensions) as (origin, runtime):
        result = CrossCheckResult((), DEFAULT_SEED, Environment.of([origin, runtime]), original=str(program_path))
        try:
            with origin:
                origin.activate(program_path.resolve())
                names = origin.ask("output_names")
                tolerances.check_names(names)
                arrays, expected = _executed(origin, model, inputs)
        except (RefusedError, CrashedError) as error:
            return replace(result, not_run=f"PyTorch does not execute the program: {error}")
        except NoInputsError as error:
            return replace(result, not_run=f"{error}: give --input")
        found = runtime.run(ir_path.resolve(), [arrays[layer.name] for layer in model.parameters])
    if isinstance(found, Exception):
        return replace(result, inputs=arrays, problem=f"{runtime.name} does not execute the result: {found}")
    exact = all(layer.type in _EXACT for layer in model.layers)
    outputs = []
    for i, (name, array) in enumerate(zip(names, expected, strict=True)):
        here, tolerance = found[i] if i < len(found) else None, tolerances.of_output(name)
        compared = compare_arrays(array, here, runtime.name, exact, tolerance)
        outputs.append(OutputResult(name, str(array.dtype), array.shape, compared))
    return replace(result, inputs=arrays, outputs=tuple(outputs))


def _executed(origin: IsolatedRuntime[Any], model: Model, given: Arrays | None) -> tuple[Arrays, list[NDArray[Any]]]:
    """Choose inputs, and execute the program on them; return both the inputs and the outputs."""
    names = origin.ask("input_names")
    parameters = [layer.name for layer in model.parameters]
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
