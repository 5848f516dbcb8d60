"""Cross-check of an IR, layer by layer and then the whole model; and of paths: IRs, directories with IRs, and ONNX models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.crosscheck.cases.designed import as_cases, check_given, suitable
from ov_gather.crosscheck.cases.values import check_fits
from ov_gather.crosscheck.defaults import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.crosscheck.layers import Job, LayerChecks, read_expected
from ov_gather.crosscheck.library.check import Probed
from ov_gather.crosscheck.models.ir import ModelRun, has_several_layers, output_names
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.reduce import Reducer
from ov_gather.crosscheck.results import CrossCheckResult, Definitions, Environment
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Bound, Tolerances
from ov_gather.extension.users import Given, UserExtension, loaded
from ov_gather.ir.files import Place, find_irs
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, WeightsSource, read_ir
from ov_gather.ops.fields import OperationError
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.users import are_declared
from ov_gather.rules.findings import Finding
from ov_gather.rules.validation import read_and_validate, wrong_declaration
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import RUNTIMES, borrowed
from ov_gather.system.given import texts
from ov_gather.system.imports import require

InputsFor = Callable[[Model, Place], Sequence[NDArray[Any]] | Mapping[str, NDArray[Any]]]
"""Returns the inputs of the only layer of an IR, or inputs of the model by name."""


def cross_check(
    source: Source | Model,
    inputs: Sequence[ArrayLike] | Mapping[str, ArrayLike] | None = None,
    *,
    weights: WeightsSource = None,
    runtimes: Sequence[str] = ("kernel", "openvino"),
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    device: str = CPU,
    failures: Path | None = None,
    progress: Progress | None = None,
    atol: Bound = None,
    rtol: Bound = None,
    extensions: Iterable[Given] = (),
) -> CrossCheckResult:
    """Execute each gather-family layer, isolated from its graph, on several runtimes, and compare with the NumPy reference.

    If `runtimes` contains "openvino" and the IR has more than one layer to execute, the model is executed, too, on generated
    inputs. Each layer then gets one more case, with the operands that it has in the model, and the model's outputs with our
    gathers must equal those of stock OpenVINO. Other layers whose results are exact must compute what they define.

    Args:
        source: what `read_ir` accepts, or a `Model`. If a file `x.expected.json` ({layer name: values}) exists beside `x.xml`,
            the outputs of layers whose inputs are all constant are compared with it, too.
        weights: path or bytes of the .bin, if it is not beside the .xml.
        inputs: the non-constant inputs of the only layer, in order; designed cases if not given. Or inputs of the model, by the
            names of its Parameters, on which it is executed; those that are not given are made up.
        runtimes: any of "kernel", "openvino", "extension" (OpenVINO with our operations) and "onnxruntime".
        seed: for the designed cases, and for the inputs of the model.
        cases: the maximum number of designed cases per layer.
        device: the OpenVINO device, such as "CPU", "AUTO", "HETERO:CPU" or "BATCH:CPU".
        failures: the directory to which the first failing case of each layer is written, reduced, to be run again.
        progress: receives each result as soon as its layer is done.
        atol, rtol: permitted differences of the model's outputs, by name: up to atol + rtol * abs(expected). All other outputs,
            and all layers, are compared bit by bit.
        extensions: libraries, "module:Class" or classes of `openvino.Op` with operations of yours that the model uses.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        IRError: the document cannot be read.
        TypeError, ValueError: a runtime or the device is unknown; `inputs` do not fit the layer, or the source has several
            layers; a tolerance is given for no output; an extension cannot be loaded.
        FileNotFoundError, ImportError: a runtime is not installed.
    """
    for name in texts("runtimes", runtimes, "openvino"):
        if name not in RUNTIMES:
            raise ValueError(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    if not runtimes or cases < 1:
        raise ValueError("there must be a runtime and a case at least")
    tolerances, known = Tolerances.of(atol, rtol), loaded(extensions)
    layers_know = known if are_declared() else ()
    with borrowed(runtimes, device, layers_know) as others:  # workers start while the document is read
        model = source if isinstance(source, Model) else read_ir(source, weights)
        tolerances.check_names(output_names(model))
        views = [view for _, graph in model.walk() for view in family_layers(graph)]
        named = _named_inputs(model, inputs, runtimes) if isinstance(inputs, Mapping) else {}
        given = None if inputs is None or isinstance(inputs, Mapping) else [np.asarray(array) for array in inputs]
        if given is not None and len(views) != 1:
            raise ValueError(f"inputs are given in order, but there are {len(views)} gather-family layers")
        if given is not None:
            check_given(isolate(views[0]), given)
        expected = read_expected(model.path)
        make = partial(suitable, limit=cases, seed=seed) if given is None else lambda view: as_cases(given)
        progress = progress or Progress()
        progress.begin(model.path, len(views), seed)
        with_models = given is None and "openvino" in runtimes
        progress.step("probing libraries of operations")
        probed = Probed(views if with_models else [], known, seed, cases)
        progress.step("")
        for position, view in enumerate(views):
            if layer := probed.result(view):
                progress.add(position, layer)
        sound = [position for position, view in enumerate(views) if probed.result(view) is None]
        is_run = with_models and (has_several_layers(model) or bool(named)) and len(sound) == len(views)
        run = ModelRun(model, seed, device, known, named, progress.step) if is_run else None
        with LayerChecks(others, Reducer(failures, device, layers_know) if failures else None) as checks:
            progress.watch(checks.queues)
            start = 0
            for own in run.own_cases(views) if run else [[None] * len(sound)]:
                some = [views[position] for position in sound[start : start + len(own)]]
                jobs = [Job(view, make, case, expected.get(view.layer.name)) for view, case in zip(some, own, strict=True)]
                for position, layer in checks.run(jobs):
                    progress.add(sound[start + position], probed.joined(some[position], layer))
                start += len(own)
        layers = progress.layers
        outputs = run.outputs(views, layers, tolerances) if run else ()
        definitions = run.definitions(views, layers) if run else Definitions()
        not_run = run.not_run if run else ""
        return CrossCheckResult(layers, seed, Environment.of(others), outputs, not_run, definitions=definitions)


def _named_inputs(model: Model, inputs: Mapping[str, ArrayLike], runtimes: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return inputs of a model as arrays, by name. Raises TypeError, ValueError if one does not fit, or nothing executes it."""
    parameters = {layer.name: layer for layer in model.parameters}
    arrays = {name: np.asarray(array) for name, array in inputs.items()}
    for name, array in arrays.items():
        if name not in parameters:
            raise ValueError(f"there is no input '{name}'; the inputs of the model are {', '.join(parameters) or 'none'}")
        check_fits(parameters[name], array)
    if "openvino" not in runtimes:
        raise ValueError(
            "inputs of the model are given, but the runtime 'openvino', which executes it, is not among those asked for"
        )
    return arrays


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The results of checking several paths.

    Attributes:
        results: one per ONNX model, then one per readable IR.
        findings: findings of validation in readable IRs.
        unreadable: findings of validation in unreadable IRs.
        stopped: the progress at which Ctrl+C or SIGTERM stopped the check; "" if it completed.
    """

    results: tuple[CrossCheckResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    unreadable: tuple[Finding, ...] = ()
    stopped: str = ""


def check_paths(
    paths: Sequence[Place],
    *,
    runtimes: Sequence[str],
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    device: str = CPU,
    failures: Path | None = None,
    inputs_for: InputsFor | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], object] = str,
    tolerances: Tolerances = NO_TOLERANCES,
    extensions: tuple[UserExtension, ...] = (),
) -> CheckOutcome:
    """Convert each ONNX model and compare it with onnxruntime; validate each IR and cross-check its layers.

    Args:
        paths: IRs, directories that are searched for IRs, and .onnx files.
        runtimes, seed, cases, device, failures: as for `cross_check`.
        inputs_for: returns the inputs of an IR, as `cross_check` takes them; designed cases if not given.
        progress: receives each source, and each result as soon as its layer is done.
        warn: called before a converted model is executed, with each way in which OpenVINO will differ from the ONNX model.
        tolerances: permitted differences of outputs of models.
        extensions: operations of users, as `loaded` returns them.

    Raises:
        NoIRError: there is no IR in the directories.
        ConversionError: an ONNX model cannot be converted.
        ImportError, FileNotFoundError: a runtime is not installed.
        OSError, TypeError, ValueError: as raised by `cross_check`, `verify_conversion` and `inputs_for`; a tolerance is given
            for no output of any model.
    """
    models = [Path(path) for path in paths if path.suffix == ".onnx"]
    others = [path for path in paths if path.suffix != ".onnx"]
    if models:
        require("onnxruntime")
    files = find_irs(others).files if others else ()
    permitted = tolerances_by_file([*models, *files], tolerances)
    progress = progress or Progress()
    results: list[CrossCheckResult] = []
    findings: list[Finding] = []
    unreadable: list[Finding] = []
    options: dict[str, Any] = {"runtimes": runtimes, "seed": seed, "cases": cases, "device": device, "failures": failures}
    options["extensions"] = extensions
    count = len(models) + len(files)
    with progress.until_stopped():
        for original in models:
            progress.begin_file(str(original), count)
            results.append(_check_onnx(original, seed, warn, permitted[original], extensions, progress.step))
        for path in files:
            progress.begin_file(str(path), count)
            try:
                model, found = read_and_validate(path)
            except OperationError as error:  # other files may do without the operation
                model, found = None, wrong_declaration(str(path), error)
            if model is None:
                unreadable += found
                continue
            findings += found
            inputs = inputs_for(model, path) if inputs_for else None
            bounds = permitted[path]
            results.append(cross_check(model, inputs, progress=progress, atol=bounds.atol, rtol=bounds.rtol, **options))
    if progress.stopped:
        results += filter(None, [progress.partial()])
    return CheckOutcome(tuple(results), tuple(findings), tuple(unreadable), progress.stopped)


def tolerances_by_file(files: Sequence[Place], tolerances: Tolerances) -> dict[Place, Tolerances]:
    """Return the tolerances of the outputs of each file. Raises ValueError for a name that is no output of any of them."""
    outputs: dict[Place, list[str]] = {file: _outputs(file) if tolerances.names else [] for file in files}
    tolerances.check_names(list(dict.fromkeys(name for names in outputs.values() for name in names)))
    return {file: tolerances.among(names) for file, names in outputs.items()}


def _outputs(file: Place) -> list[str]:
    """Return the names of the outputs of an ONNX model or an IR; none if it cannot be read, which the check reports."""
    try:
        if file.suffix != ".onnx":
            return output_names(read_ir(file))
        from ov_gather.crosscheck.models.intermediates import load

        return [str(value.name) for value in load(Path(file)).graph.outputs]
    except (OSError, ValueError):
        return []


def _check_onnx(
    path: Path,
    seed: int,
    warn: Callable[[str], object],
    tolerances: Tolerances,
    extensions: tuple[UserExtension, ...],
    step: Callable[[str], object],
) -> CrossCheckResult:
    """Convert an ONNX model, warn of inexactness, and compare the result with onnxruntime."""
    from ov_gather.converters.inexactness import summaries
    from ov_gather.converters.models import convert, written
    from ov_gather.converters.weights import weights_outside
    from ov_gather.crosscheck.models.verify import verify_conversion

    with TemporaryDirectory() as directory, weights_outside(path) as readable:
        converted = Path(directory) / "model.xml"
        conversion = convert(path, output=converted, readable=readable, extensions=extensions, step=step)
        inexactness = tuple(summaries(conversion.inexactness))
        for text in inexactness:
            warn(text)
        with written(conversion.model, converted):
            pass
        result = verify_conversion(path, converted, seed=seed, tolerances=tolerances, extensions=extensions, readable=readable)
    return replace(result, inexactness=inexactness)
