"""Execute every gather-family layer of an IR on our kernel and on other runtimes, and compare bit by bit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.cases import check_given, generate, operands
from ov_gather.divergences import Divergence, Observed, explaining, lacking
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, read_ir
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.results import Comparison, CrossCheckResult, LayerResult, Status
from ov_gather.runtimes.base import CrashedError, ModelT, RefusedError, Runtime
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.runtimes.kernel import KernelRuntime

DEFAULT_SEED = 2026
RUNTIMES = ("openvino", "extension")
"""Those that `cross_check` compares our kernel with: stock OpenVINO, and OpenVINO with our extension."""


def cross_check(
    source: Source | Model,
    inputs: Sequence[ArrayLike] | None = None,
    *,
    runtimes: Sequence[str] = ("openvino",),
    seed: int = DEFAULT_SEED,
) -> CrossCheckResult:
    """Execute each gather-family layer, isolated from its graph, on our kernel and on other runtimes, with the same inputs.

    Args:
        source: what `read_ir` takes, or a Model. Beside `x.xml`, a file `x.expected.json` ({layer name: values}) with the
            outputs of layers whose inputs are all constant is compared, too.
        inputs: the inputs of the only layer that are not constant, in order; generated from the ports if not given.
        runtimes: of RUNTIMES, those to compare with.
        seed: for generated inputs.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        IRError: the document cannot be read.
        TypeError, ValueError: a runtime is unknown; `inputs` do not fit the layer, or are given for a source with several.
        FileNotFoundError, ImportError: a runtime is not installed.
    """
    for name in runtimes:
        if name not in RUNTIMES:
            raise ValueError(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    with borrowed(runtimes) as others:  # they start while the document is read
        return _cross_check(source, inputs, others, seed)


def _cross_check(
    source: Source | Model, inputs: Sequence[ArrayLike] | None, others: Sequence[IsolatedRuntime[Model]], seed: int
) -> CrossCheckResult:
    model = source if isinstance(source, Model) else read_ir(source)
    views = [view for _, graph in model.walk() for view in family_layers(graph)]
    given = None if inputs is None else [np.asarray(array) for array in inputs]
    if given is not None:
        if len(views) != 1:
            raise ValueError(f"inputs are given, but there are {len(views)} gather-family layers")
        check_given(isolate(views[0]), given)
    expected = _expected_outputs(model.path)
    layers = tuple(_check_layer(model.path, view, given, others, expected, seed) for view in views)
    return CrossCheckResult(layers, seed, {runtime.name: runtime.version for runtime in others})


def verify_conversion(onnx_model: Path, converted: Model, *, seed: int = DEFAULT_SEED) -> tuple[Comparison, ...]:
    """Compare a converted model, whole, with its original on onnxruntime, and let OpenVINO read it.

    Returns:
        How our kernel on the converted model compares with onnxruntime on the original, for the same generated inputs; and
        whether OpenVINO reads it. What OpenVINO computes is for `cross_check` to say, layer by layer.

    Raises:
        ImportError: onnxruntime is not installed.
        ValueError: no valid inputs can be generated.
    """
    from ov_gather.runtimes.openvino import read_model

    with borrowed(["onnxruntime"]) as (judge,):
        compared = _compare_whole(onnx_model, converted, judge, seed)
    try:
        read_model(converted)
        read = Comparison("openvino", Status.PASSED, "reads it")
    except RefusedError as error:
        read = Comparison("openvino", Status.FAILED, f"refuses: {error}")
    return compared, read


def _compare_whole(onnx_model: Path, converted: Model, judge: IsolatedRuntime[Path], seed: int) -> Comparison:
    for view in family_layers(converted):
        known = lacking(judge.name, judge.version, view)
        if known:
            return Comparison(judge.name, Status.NOT_APPLICABLE, divergences=(known.name,))
    inputs = generate(converted, seed)
    ours = _outputs(KernelRuntime(), converted, inputs)
    theirs = _outputs(judge, onnx_model, inputs)
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        difference = _failure(ours, theirs)
    else:
        difference = "; ".join(filter(None, map(_difference, ours, theirs)))
    return Comparison(judge.name, Status.FAILED if difference else Status.PASSED, difference)


def _expected_outputs(path: str) -> Mapping[str, Any]:
    if not path or not (file := Path(path).with_suffix(".expected.json")).is_file():
        return {}
    try:
        values = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file}: must be an object that gives the values for each layer name")
    return values


def _check_layer(
    path: str,
    view: LayerView,
    given: list[NDArray[Any]] | None,
    others: Sequence[IsolatedRuntime[Model]],
    expected: Mapping[str, Any],
    seed: int,
) -> LayerResult:
    layer = view.layer.name or view.layer.type
    try:
        model = isolate(view)
        inputs = generate(model, seed) if given is None else given
        alone = next(family_layers(model))
        case = operands(alone, inputs)
    except (TypeError, ValueError) as error:
        failure = Comparison("kernel", Status.FAILED, f"not executed: {error}")
        return LayerResult(path, layer, view.operation.name, comparisons=(failure,))
    names = view.operation.inputs
    attributes = [f"{name} {value}" for name, value in alone.attributes_for(case).items()]
    ours = _outcome(KernelRuntime(), model, inputs)
    comparisons = [_compare(ours, runtime, model, inputs, alone, case) for runtime in others]
    if view.layer.name in expected:
        comparisons.append(_compare_expected(ours, expected[view.layer.name]))
    if all(it.status is Status.NOT_APPLICABLE for it in comparisons):
        reason = "nothing to compare with: no other runtime can execute this, and there is no expected output"
        comparisons.append(Comparison("kernel", Status.FAILED, reason))
    return LayerResult(
        path,
        layer,
        view.operation.name,
        ", ".join(f"{given.name} {element_type}" for given, element_type in zip(names, alone.input_types, strict=True)),
        ", ".join([*(str(list(array.shape)) for array in case), *attributes]),
        kernel_name(case[0].dtype),
        tuple(comparisons),
        view.assumptions,
    )


# What a runtime made of a case: its output, or why it gave none. Our kernel refuses only indices that are out of bounds.
_Outcome = NDArray[Any] | Exception


def _outcome(runtime: Runtime[Model], model: Model, inputs: Sequence[NDArray[Any]]) -> _Outcome:
    outputs = _outputs(runtime, model, inputs)
    return outputs if isinstance(outputs, Exception) else outputs[0]


def _outputs(runtime: Runtime[ModelT], model: ModelT, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | Exception:
    try:
        with runtime:
            runtime.activate(model)
            return runtime.execute(inputs)
    except (RefusedError, CrashedError, IndexError) as error:
        return error


def _compare(
    ours: _Outcome,
    runtime: IsolatedRuntime[Model],
    model: Model,
    inputs: Sequence[NDArray[Any]],
    alone: LayerView,
    case: Sequence[NDArray[Any]],
) -> Comparison:
    name, version = runtime.name, runtime.version
    missing = lacking(name, version, alone)
    if missing:
        return Comparison(name, Status.NOT_APPLICABLE, divergences=(missing.name,))
    theirs = _outcome(runtime, model, inputs)
    difference = _difference(ours, theirs)
    observed = _observed(ours, theirs, difference)
    if observed is None:
        return Comparison(name, Status.PASSED, "both refuse")
    if observed is Observed.ANSWERS:
        runtime.stop()  # it may have written out of bounds, too: nothing else shall suffer from that
    for known in explaining(name, version, observed, alone, case):
        if _predicted(known, alone, case, theirs):
            return Comparison(name, Status.EXPECTED, difference, (known.name,))
    return Comparison(name, Status.FAILED if difference else Status.PASSED, difference)


def _observed(ours: _Outcome, theirs: _Outcome, difference: str) -> Observed | None:
    """What a runtime did beside our kernel; None where both refuse."""
    if isinstance(theirs, CrashedError):
        return Observed.CRASHES
    if isinstance(theirs, Exception):
        return None if isinstance(ours, Exception) else Observed.REFUSES
    if isinstance(ours, Exception):
        return Observed.ANSWERS
    return Observed.DIFFERS if difference else Observed.AGREES


def _predicted(known: Divergence, alone: LayerView, case: Sequence[NDArray[Any]], theirs: _Outcome) -> bool:
    """Whether a runtime's result is exactly what a divergence predicts; one that predicts nothing allows any."""
    if known.predicts is None:
        return True
    try:
        return not _difference(known.predicts(alone, case), theirs)
    except IndexError:
        return False


def _compare_expected(ours: _Outcome, values: Any) -> Comparison:
    try:
        difference = _difference(ours, np.asarray(values, None if isinstance(ours, Exception) else ours.dtype))
    except ValueError as error:
        difference = str(error)
    return Comparison("expected output", Status.FAILED if difference else Status.PASSED, difference)


def _difference(ours: _Outcome, theirs: _Outcome) -> str:
    """What is different, with the first position where it is; "" if nothing."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return _failure(ours, theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"kernel {ours.dtype}{list(ours.shape)}, here {theirs.dtype}{list(theirs.shape)}"
    different = np.asarray(ours != theirs if ours.dtype.hasobject else _bits(ours) != _bits(theirs))
    if not different.any():
        return ""
    position = np.unravel_index(int(np.argmax(different)), ours.shape)
    where = f"output[{', '.join(map(str, position))}]"
    return f"{where}: kernel {ours[position]}, here {theirs[position]}; {int(different.sum())} of {ours.size} differ"


def _failure(ours: object, theirs: object) -> str:
    """What to say where at least one gave no output; "" if both refuse."""
    if isinstance(theirs, CrashedError):
        return str(theirs)
    if isinstance(theirs, Exception):
        return "" if isinstance(ours, Exception) else f"refuses: {theirs}"
    return f"kernel: {ours}"


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
