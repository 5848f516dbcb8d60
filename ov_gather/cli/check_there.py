"""`ov-gather check` on a Dask cluster: distribution of files or of a sweep, and the work of each worker."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from ov_gather.cli.cluster import in_cluster
from ov_gather.cli.files import find_irs
from ov_gather.cli.output import warn
from ov_gather.cli.processes import Died
from ov_gather.cli.scheduler import ClusterError
from ov_gather.crosscheck.comparisons import LayerResult
from ov_gather.crosscheck.paths import CheckOutcome, check_paths
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.crosscheck.sweep import sweep_part
from ov_gather.ir.files import Place
from ov_gather.rules.findings import Finding
from ov_gather.rules.validation import not_checked
from ov_gather.system.files import scratch
from ov_gather.system.interrupts import exit_code

_LAYERS = 8
"""Number of layers of a sweep per task."""

Files = Mapping[str, bytes]
"""Files written by a worker, by their final paths on this machine."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Arguments of `cross_check` for all tasks, and the local directory of failures."""

    runtimes: tuple[str, ...]
    seed: int
    cases: int
    device: str
    failures: Path

    def of_paths(self, paths: Sequence[Place], scheduler: str, progress: Progress) -> CheckOutcome:
        """Run `check_paths` on the cluster, file by file. Ctrl+C keeps the results so far."""
        models = [path for path in paths if path.suffix == ".onnx"]
        others = [path for path in paths if path.suffix != ".onnx"]
        files = [*models, *(find_irs(others).files if others else ())]
        progress.begin(f"Dask cluster {scheduler}", len(files), self.seed, "files")
        outcomes: dict[int, CheckOutcome] = {}
        stopped = ""
        try:
            items = ((file.absolute(), str(file), folder) for file, folder in zip(files, self._new_folders(), strict=False))
            for index, result in in_cluster(partial(_check_file, checks=self), items, scheduler):
                if isinstance(result, Died):
                    hint = "was there enough memory? fewer threads a worker need less"
                    lost = not_checked(str(files[index]), f"the process that checked the file {result}", hint)
                    outcomes[index] = CheckOutcome(unreadable=tuple(lost))
                else:
                    outcomes[index], warnings, written = result
                    for warning in warnings:
                        warn(warning)
                    self._write(written)
                progress.done += 1
        except BaseException:  # as in `check_paths`
            if exit_code() is None:
                raise
            stopped = str(progress)
        done = [outcome for _, outcome in sorted(outcomes.items(), key=lambda item: item[0])]
        return CheckOutcome(
            tuple(result for outcome in done for result in outcome.results),
            tuple(finding for outcome in done for finding in outcome.findings),
            tuple(finding for outcome in done for finding in outcome.unreadable),
            stopped,
        )

    def sweep(self, scheduler: str, progress: Progress) -> CheckOutcome:
        """Run `sweep` on the cluster, some layers per task."""
        progress.begin("made-up layers", self.cases, self.seed, "cases")
        layers: list[LayerResult] = []
        result, stopped = CrossCheckResult((), self.seed), ""
        try:
            for part in self._parts(scheduler):
                result = part
                for layer in part.layers:
                    left = self.cases - progress.done
                    layers.append(replace(layer, cases=layer.cases[:left]))
                    progress.done += len(layers[-1].cases)
                    if progress.done >= self.cases:
                        return CheckOutcome((replace(result, layers=tuple(layers)),))
        except BaseException:  # as in `check_paths`
            if exit_code() is None:
                raise
            stopped = str(progress)
        return CheckOutcome((replace(result, layers=tuple(layers)),) if layers else (), stopped=stopped)

    def _parts(self, scheduler: str) -> Iterator[CrossCheckResult]:
        """Yield the results of successive parts of the sweep, in order and without end."""
        early: dict[int, CrossCheckResult] = {}
        following = 0
        items = zip(count(0, _LAYERS), self._new_folders(), strict=False)
        for index, result in in_cluster(partial(_check_part, checks=self), items, scheduler):
            if isinstance(result, Died):
                raise ClusterError(f"the process that checked layers {index * _LAYERS} and on of the sweep {result}")
            early[index], written = result
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


def _check_file(item: tuple[Place, str, str], checks: CheckOptions) -> tuple[CheckOutcome, list[str], Files]:
    """Check a file on a worker, and restore the path that the user gave."""
    place, name, failures = item
    warnings: list[str] = []
    with scratch() as directory:
        outcome = check_paths(
            [place],
            runtimes=checks.runtimes,
            seed=checks.seed,
            cases=checks.cases,
            device=checks.device,
            failures=directory,
            warn=warnings.append,
        )
        written = _written(directory, failures)
    results = [_named(_moved(result, directory, failures), name) for result in outcome.results]
    findings, unreadable = _renamed(outcome.findings, name), _renamed(outcome.unreadable, name)
    return CheckOutcome(tuple(results), findings, unreadable), warnings, written


def _check_part(item: tuple[int, str], checks: CheckOptions) -> tuple[CrossCheckResult, Files]:
    """Check some layers of a sweep on a worker."""
    start, failures = item
    with scratch() as directory:
        result = sweep_part(start, start + _LAYERS, checks.runtimes, seed=checks.seed, device=checks.device, failures=directory)
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
