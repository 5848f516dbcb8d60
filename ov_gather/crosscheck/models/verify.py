"""Verification of a converted ONNX model against the original: every output, and every gather on its own operands.

`outputs.py` defines how outputs are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import DEFAULT_SEED, operands
from ov_gather.crosscheck.comparisons import CaseResult, LayerResult
from ov_gather.crosscheck.inputs.onnx import NoInputsError, check_inputs, made_up_inputs
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.intermediates import GatherTensors
from ov_gather.crosscheck.models.trials import ConversionTrial
from ov_gather.crosscheck.results import CrossCheckResult, Environment
from ov_gather.crosscheck.verdict import Observation, judge
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.onnx_nodes import fitted, single_layer
from ov_gather.ops.reference import evaluate
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.system.extras import require

_EXECUTED_BY = {"stock": "openvino", "extension": "extension"}
"""The runtime for models converted for each target."""


def verify_conversion(
    onnx_path: Path,
    ir_path: Path,
    *,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    seed: int = DEFAULT_SEED,
    target: str = "stock",
    lanes: Mapping[str, tuple[str, str]] | None = None,
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

    Returns:
        A result with `.passed`, `.divergences` and `.table()`. `.not_run` is why nothing was compared without being wrong.

    Raises:
        ImportError, FileNotFoundError: onnxruntime, or the extension, is not installed.
        OSError: a file cannot be read.
        TypeError, ValueError: a file is not a model; the inputs do not fit it.
    """
    require("onnxruntime")  # fail early
    model = intermediates.load(onnx_path)
    given = None if inputs is None else check_inputs(model, inputs)
    choices = made_up_inputs(model, seed) if given is None else [given]
    with borrowed(["onnxruntime", "kernel", _EXECUTED_BY[target]]) as runtimes:
        origin, *others = runtimes
        nodes, in_bodies = intermediates.gathers(model)
        result = CrossCheckResult(
            (),
            seed,
            Environment.of(runtimes),
            original=str(onnx_path),
            in_bodies=tuple(f"{node.op_type} '{node.name}'" for node in in_bodies),
        )
        trial = ConversionTrial(model, ir_path, origin, others[-1], lanes or {})
        try:
            attempt = trial.run(choices)
            if attempt is None and given is None:
                return replace(result, not_run=_no_inputs(trial.refusals))
            if attempt is None:
                if given is not None and trial.target_refuses(given):
                    return replace(result, not_run=f"neither runtime accepts {trial.refusals[0]}")
                return replace(result, problem=f"onnxruntime does not execute the original: {trial.refusals[0]}")
            gathers = intermediates.tensors_of(model, nodes, attempt.inputs, origin)
            layers = tuple(_check_gather(gather, others, target, str(onnx_path)) for gather in gathers)
        except NoInputsError as error:
            return replace(result, not_run=f"{error}: give --input")
        except (RefusedError, CrashedError) as error:
            return replace(result, not_run=f"onnxruntime does not execute the original: {error}", no_reference=True)
    result = replace(result, layers=layers, outputs=attempt.outputs, problem=attempt.problem, notes=attempt.notes)
    result = replace(result, inputs=attempt.inputs)
    if target == "extension" or result.passed or result.problem or not all(layer.passed for layer in layers):
        return result
    return replace(result, blamed=trial.to_blame(attempt))


def _no_inputs(refusals: Sequence[str]) -> str:
    return f"onnxruntime accepts none of the inputs that were made up ({refusals[0]}): give --input"


def _check_gather(gather: GatherTensors, runtimes: Sequence[IsolatedRuntime[Any]], target: str, path: str) -> LayerResult:
    """Execute one gather alone, on its operands in the original, and compare with its output there."""
    node, stock = gather.node, target == "stock"
    tensors = fitted(node, gather.operands) if stock else gather.operands
    model = single_layer(node, tensors, gather.constant, custom=not stock)
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
