"""Check of paths: IRs, directories that contain IRs, and ONNX models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, DEFAULT_SEED
from ov_gather.crosscheck.check import cross_check
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.ir.files import Place, find_irs
from ov_gather.ir.model import Model
from ov_gather.rules.findings import Finding
from ov_gather.rules.validation import read_and_validate
from ov_gather.runtimes.devices import CPU
from ov_gather.system.extras import require

InputsFor = Callable[[Model, Place], Sequence[NDArray[Any]]]
"""Returns the inputs of the only layer of an IR."""


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
) -> CheckOutcome:
    """Convert each ONNX model and compare it with onnxruntime; validate each IR and cross-check its layers.

    Args:
        paths: IRs, directories that are searched for IRs, and .onnx files.
        runtimes, seed, cases, device, failures: as for `cross_check`.
        inputs_for: returns the inputs of the only layer of an IR; designed cases if not given.
        progress: receives each source, and each result as soon as its layer is done.
        warn: called before a converted model is executed, with each way in which OpenVINO will differ from the ONNX model.

    Raises:
        NoIRError: there is no IR in the directories.
        ConversionError: an ONNX model cannot be converted.
        ImportError, FileNotFoundError: a runtime is not installed.
        OSError, TypeError, ValueError: as raised by `cross_check`, `verify_conversion` and `inputs_for`.
    """
    models = [Path(path) for path in paths if path.suffix == ".onnx"]
    others = [path for path in paths if path.suffix != ".onnx"]
    if models:
        require("onnxruntime")
    progress = progress or Progress()
    results: list[CrossCheckResult] = []
    findings: list[Finding] = []
    unreadable: list[Finding] = []
    options: dict[str, Any] = {"runtimes": runtimes, "seed": seed, "cases": cases, "device": device, "failures": failures}
    with progress.until_stopped():
        for original in models:
            progress.begin(str(original))
            results.append(_check_onnx(original, seed, warn))
        for path in find_irs(others).files if others else ():
            progress.begin(str(path))
            model, found = read_and_validate(path)
            if model is None:
                unreadable += found
                continue
            findings += found
            inputs = inputs_for(model, path) if inputs_for else None
            results.append(cross_check(model, inputs, progress=progress, **options))
    if progress.stopped:
        results += filter(None, [progress.partial()])
    return CheckOutcome(tuple(results), tuple(findings), tuple(unreadable), progress.stopped)


def _check_onnx(path: Path, seed: int, warn: Callable[[str], object]) -> CrossCheckResult:
    """Convert an ONNX model, warn of inexactness, and compare the result with onnxruntime."""
    from ov_gather.converters.inexactness import summaries
    from ov_gather.converters.models import convert, written
    from ov_gather.crosscheck.models.verify import verify_conversion

    with TemporaryDirectory() as directory:
        converted = Path(directory) / "model.xml"
        conversion = convert(path, output=converted)
        inexactness = tuple(summaries(conversion.inexactness))
        for text in inexactness:
            warn(text)
        with written(conversion.model, converted):
            pass
        result = verify_conversion(path, converted, seed=seed)
    return replace(result, inexactness=inexactness)
