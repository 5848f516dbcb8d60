"""Whether a converted model computes what its ONNX original does: every output, and every gather on its own operands.

How outputs are compared: see `whole.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import DEFAULT_SEED, operands
from ov_gather.crosscheck.environment import environment
from ov_gather.crosscheck.inputs.onnx import NoInputsError, check_inputs, made_up_inputs
from ov_gather.crosscheck.models import intermediates as capture
from ov_gather.crosscheck.models.intermediates import Captured
from ov_gather.crosscheck.models.trials import Trial
from ov_gather.crosscheck.results import CaseResult, Environment, LayerResult, OutputResult
from ov_gather.crosscheck.verdict import Seen, judge
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.onnx_nodes import fitted, single_layer
from ov_gather.ops.reference import evaluate
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed

if TYPE_CHECKING:
    from rich.table import Table

TARGETS = {"stock": "openvino", "extension": "extension"}
"""What a model can be converted for, and the runtime that executes it then."""


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """What came out for a converted model: its outputs; its gathers, each as a layer with one case; why not, where it could not
    be executed; the gathers in bodies of If, Loop and Scan, which only the outputs speak for; what else is to be said;
    the stock gathers of the IR that are to blame, as its outputs are right with ours in their place.

    `not_verified`: why nothing could be compared, though nothing is known to be wrong."""

    path: str
    seed: int
    outputs: tuple[OutputResult, ...] = ()
    gathers: tuple[LayerResult, ...] = ()
    problem: str = ""
    in_bodies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()
    not_verified: str = ""
    environment: Environment = field(default_factory=Environment)

    @property
    def passed(self) -> bool:
        """Whether all was compared, and nothing unexplained was seen."""
        compared = self.outputs and not self.problem and not self.not_verified
        return bool(compared) and all(it.comparison.passed for it in self.outputs) and all(it.passed for it in self.gathers)

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of those that apply, each once."""
        of_outputs = (name for it in self.outputs for name in it.comparison.divergences)
        return tuple(dict.fromkeys([*of_outputs, *(name for it in self.gathers for name in it.divergences)]))

    def table(self) -> Table:
        """One row for each output and each gather, for `rich.print`."""
        from ov_gather.report.check.tables import verification_table

        return verification_table(self)


def require_onnxruntime() -> None:
    """Raise ImportError where there is none, for what to install is to be said before the work is done."""
    if find_spec("onnxruntime") is None:
        raise ImportError("onnxruntime, which ONNX models are verified with, is not installed: pip install onnxruntime")


def verify_conversion(
    onnx_path: Path,
    ir_path: Path,
    *,
    inputs: Mapping[str, NDArray[Any]] | None = None,
    seed: int = DEFAULT_SEED,
    target: str = "stock",
) -> VerificationResult:
    """Execute an ONNX model on onnxruntime, and the IR that it became on OpenVINO, with the same inputs, and compare.

    Args:
        onnx_path: the original.
        ir_path: the .xml.
        inputs: by name; made up if not given: open dimensions get one size after the other, until both runtimes accept them.
        seed: for inputs that are made up.
        target: what the model was converted for: "stock" operations, or those of our "extension".

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        ImportError, FileNotFoundError: onnxruntime, or the extension, is not installed.
        OSError: a file cannot be read.
        TypeError, ValueError: a file is not a model; the inputs do not fit it.
    """
    require_onnxruntime()
    model = capture.load(onnx_path)
    choices = made_up_inputs(model, seed) if inputs is None else [check_inputs(model, inputs)]
    with borrowed(["onnxruntime", "kernel", TARGETS[target]]) as runtimes:
        origin, *others = runtimes
        nodes, in_bodies = capture.gathers(model)
        result = VerificationResult(
            str(onnx_path),
            seed,
            in_bodies=tuple(f"{node.op_type} '{node.name}'" for node in in_bodies),
            environment=environment(runtimes),
        )
        trial = Trial(model, ir_path, origin, others[-1])
        try:
            attempt = trial.run(choices)
            if attempt is None and inputs is None:
                return replace(result, not_verified=_no_inputs(trial.refusals))
            if attempt is None:
                return replace(result, problem=f"onnxruntime does not execute the original: {trial.refusals[0]}")
            captured = capture.capture(model, nodes, attempt.inputs, origin)
            gathers = tuple(_check_gather(it, others, target, str(onnx_path)) for it in captured)
        except NoInputsError as error:
            return replace(result, not_verified=f"{error}: give --input")
        except (RefusedError, CrashedError) as error:
            return replace(result, not_verified=f"onnxruntime does not execute the original: {error}")
    result = replace(result, gathers=gathers, outputs=attempt.outputs, problem=attempt.problem, notes=attempt.notes)
    if target == "extension" or result.passed or result.problem or not all(it.passed for it in gathers):
        return result
    return replace(result, blamed=trial.to_blame(attempt))


def _no_inputs(refusals: Sequence[str]) -> str:
    return f"onnxruntime accepts none of the inputs that were made up ({refusals[0]}): give --input"


def _check_gather(captured: Captured, runtimes: Sequence[IsolatedRuntime[Any]], target: str, path: str) -> LayerResult:
    node, stock = captured.node, target == "stock"
    tensors = fitted(node, captured.operands) if stock else captured.operands
    model = single_layer(node, tensors, captured.constant, custom=not stock)
    given = [array for array, constant in zip(tensors, captured.constant, strict=True) if not constant]
    (view,) = family_layers(model)
    case = operands(view, given)
    attributes = view.attributes_for(case)
    # Of strings, onnxruntime's Gather copies but the first of each slice.
    expected = evaluate(view.operation, case, attributes) if captured.output.dtype.hasobject else captured.output
    comparisons = []
    for runtime in runtimes:
        outputs = runtime.run(model, given)
        seen = Seen(outputs if isinstance(outputs, Exception) else outputs[0], runtime.seconds)
        comparisons.append(judge(runtime.name, runtime.version, expected, seen, view, case))
    return LayerResult(
        path,
        node.name or str(node.outputs[0].name),
        view.operation.name,
        {it.name: str(kind) for it, kind in zip(view.operation.inputs, view.input_types, strict=True)},
        {name: str(value) for name, value in attributes.items()},
        kernel_name(case[0].dtype),
        (CaseResult("captured", tuple(array.shape for array in case), 0, tuple(comparisons)),),
    )
