"""The work of `ov-gather check`: paths or a sweep, in this process or on a Dask cluster."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from ov_gather.crosscheck.check import CheckOutcome, InputsFor, check_paths, tolerances_by_file
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.results import CrossCheckResult, LayerResult
from ov_gather.crosscheck.sweep import sweep
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Tolerances
from ov_gather.extension.users import UserExtension
from ov_gather.ir.files import Place, find_irs
from ov_gather.ops.users import UserOperations, declare, declared_files
from ov_gather.rules.findings import Finding
from ov_gather.rules.validation import not_checked
from ov_gather.system.files import scratch
from ov_gather.workers import each
from ov_gather.workers.cluster import ClusterError

_LAYERS = 8
"""Number of layers of a sweep per task."""

Files = Mapping[str, bytes]
"""Files written by a worker, by their final paths on this machine."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Arguments of `check_paths` that are the same wherever it runs; `failures` is a directory on this machine.

    All but tolerances are arguments of `sweep`, too. `operations` are those that users declare.
    """

    runtimes: tuple[str, ...]
    seed: int
    cases: int
    device: str
    failures: Path
    tolerances: Tolerances = NO_TOLERANCES
    extensions: tuple[UserExtension, ...] = ()
    operations: tuple[UserOperations, ...] = field(default_factory=declared_files)

    @property
    def for_sweep(self) -> dict[str, Any]:
        """Arguments of `sweep`."""
        return {name: getattr(self, name) for name in ("runtimes", "seed", "cases", "device", "failures", "extensions")}

    @property
    def for_paths(self) -> dict[str, Any]:
        """Arguments of `check_paths`."""
        return {**self.for_sweep, "tolerances": self.tolerances}

    def of_paths(
        self,
        paths: Sequence[Place],
        scheduler: str | None,
        progress: Progress,
        warn: Callable[[str], object] = str,
        inputs_for: InputsFor | None = None,
    ) -> CheckOutcome:
        """Run `check_paths`; on a cluster, file by file. Ctrl+C keeps the results so far."""
        if not scheduler:
            return check_paths(paths, **self.for_paths, inputs_for=inputs_for, progress=progress, warn=warn)
        models = [path for path in paths if path.suffix == ".onnx"]
        others = [path for path in paths if path.suffix != ".onnx"]
        files = [*models, *(find_irs(others).files if others else ())]
        permitted = tolerances_by_file(files, self.tolerances)

        def died(index: int, how: str) -> tuple[CheckOutcome, list[str], Files]:
            hint = "was there enough memory? fewer threads a worker need less"
            lost = not_checked(str(files[index]), f"the process that checked the file {how}", hint)
            return CheckOutcome(unreadable=tuple(lost)), [], {}

        progress.begin(f"Dask cluster {scheduler}", len(files), self.seed, "files")
        outcomes: dict[int, CheckOutcome] = {}
        with progress.until_stopped():
            tasks = zip(files, self._new_folders(), strict=False)
            items = ((file.absolute(), str(file), folder, permitted[file]) for file, folder in tasks)
            for index, result in each(partial(_check_file, checks=self), items, died, scheduler=scheduler):
                outcomes[index], warnings, written = result
                for warning in warnings:
                    warn(warning)
                self._write(written)
                progress.done += 1
        done = [outcomes[index] for index in sorted(outcomes)]
        return CheckOutcome(
            tuple(result for outcome in done for result in outcome.results),
            tuple(finding for outcome in done for finding in outcome.findings),
            tuple(finding for outcome in done for finding in outcome.unreadable),
            progress.stopped,
        )

    def sweep(self, scheduler: str | None, progress: Progress) -> CheckOutcome:
        """Run `sweep`; on a cluster, some layers per task. Ctrl+C keeps the results so far."""
        if not scheduler:
            results: list[CrossCheckResult] = []
            with progress.until_stopped():
                results.append(sweep(**self.for_sweep, progress=progress))
            return CheckOutcome(tuple(results or filter(None, [progress.partial()])), stopped=progress.stopped)
        progress.begin("made-up layers", self.cases, self.seed, "cases")
        layers: list[LayerResult] = []
        part = CrossCheckResult((), self.seed)
        with progress.until_stopped():
            for part in self._parts(scheduler):
                for layer in part.layers:
                    if left := self.cases - progress.done:
                        layers.append(replace(layer, cases=layer.cases[:left]))
                        progress.done += len(layers[-1].cases)
                if progress.done >= self.cases:
                    break
        return CheckOutcome((replace(part, layers=tuple(layers)),) if layers else (), stopped=progress.stopped)

    def _parts(self, scheduler: str) -> Iterator[CrossCheckResult]:
        """Yield the results of successive parts of the sweep, in order and without end."""

        def died(index: int, how: str) -> NoReturn:
            raise ClusterError(f"the process that checked layers {index * _LAYERS} and on of the sweep {how}")

        early: dict[int, CrossCheckResult] = {}
        following = 0
        items = zip(count(0, _LAYERS), self._new_folders(), strict=False)
        for index, (result, written) in each(partial(_check_part, checks=self), items, died, scheduler=scheduler):
            early[index] = result
            self._write(written)
            while following in early:
                yield early.pop(following)
                following += 1

    def _new_folders(self) -> Iterator[str]:
        """Yield new folders for failures, numbered after those of earlier runs, which may be among the checked files."""
        earlier = [int(place.name) for place in self.failures.glob("*") if place.name.isdecimal()]
        return (str(self.failures / str(number)) for number in count(max(earlier, default=-1) + 1))

    def _write(self, written: Files) -> None:
        for name, content in written.items():
            place = Path(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _check_file(item: tuple[Place, str, str, Tolerances], checks: CheckOptions) -> tuple[CheckOutcome, list[str], Files]:
    """Check a file on a worker, and restore the path that the user gave."""
    place, name, failures, tolerances = item
    declare(*checks.operations)
    warnings: list[str] = []
    with scratch() as directory:
        arguments = replace(checks, failures=directory, tolerances=tolerances).for_paths
        outcome = check_paths([place], **arguments, warn=warnings.append)
        written = _written(directory, failures)
    results = [_named(_moved(result, directory, failures), name) for result in outcome.results]
    findings, unreadable = _renamed(outcome.findings, name), _renamed(outcome.unreadable, name)
    return CheckOutcome(tuple(results), findings, unreadable), warnings, written


def _check_part(item: tuple[int, str], checks: CheckOptions) -> tuple[CrossCheckResult, Files]:
    """Check some layers of a sweep on a worker."""
    start, failures = item
    declare(*checks.operations)
    with scratch() as directory:
        result = sweep(**replace(checks, failures=directory).for_sweep, start=start, stop=start + _LAYERS)
        written = _written(directory, failures)
    return _moved(result, directory, failures), written


def _written(directory: Path, failures: str) -> Files:
    """Read all files below a directory of the worker, by their paths in the folder of failures."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {str(Path(failures, path.relative_to(directory))): path.read_bytes() for path in files}


def _moved(result: CrossCheckResult, directory: Path, failures: str) -> CrossCheckResult:
    """Replace the worker's directory by the final folder in all replay commands."""
    if not any(case.replay for layer in result.layers for case in layer.cases):
        return result

    def moved(replay: str) -> str:
        return shlex.join(word.replace(str(directory), failures) for word in shlex.split(replay))

    layers = (
        replace(layer, cases=tuple(replace(case, replay=moved(case.replay)) for case in layer.cases)) for layer in result.layers
    )
    return replace(result, layers=tuple(layers))


def _named(result: CrossCheckResult, name: str) -> CrossCheckResult:
    layers = tuple(replace(layer, path=name) for layer in result.layers)
    return replace(result, layers=layers, original=name if result.original else "")


def _renamed(findings: Sequence[Finding], name: str) -> tuple[Finding, ...]:
    return tuple(replace(finding, location=replace(finding.location, path=name)) for finding in findings)
