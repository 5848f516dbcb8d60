"""This module tells what every output format of `ov-gather check` is given, and the facts and words that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ov_gather.crosscheck.comparisons import CaseResult, Comparison, LayerResult, OutputResult, Status
from ov_gather.crosscheck.results import CrossCheckResult, Environment
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.findings import Finding, Severity


@dataclass(frozen=True)
class CheckReport:
    """What `ov-gather check` came to.

    Attributes:
        results: one for each source.
        findings: what validation found in all sources, those that could not be read included.
        command, date: the command that was run, and when.
        stopped: where the check was stopped, so that the rest is missing; "" if it came to its end.
    """

    results: Sequence[CrossCheckResult]
    findings: Sequence[Finding] = ()
    command: str = ""
    date: str = ""
    stopped: str = ""

    @cached_property
    def layers(self) -> Sequence[LayerResult]:
        """The layers of all sources."""
        return [layer for result in self.results for layer in result.layers]

    @cached_property
    def outputs(self) -> Sequence[tuple[str, OutputResult]]:
        """The outputs of all models, each with the path of its source."""
        return [(result.path, output) for result in self.results for output in result.outputs]

    @cached_property
    def onnx_results(self) -> Sequence[CrossCheckResult]:
        """The results of ONNX models."""
        return [result for result in self.results if result.original]

    @cached_property
    def ir_results(self) -> Sequence[CrossCheckResult]:
        """The results of IRs, and of a sweep."""
        return [result for result in self.results if not result.original]

    @property
    def failed(self) -> int:
        """The number of layers that failed."""
        return sum(not layer.passed for layer in self.layers)

    @property
    def problems(self) -> Sequence[tuple[str, str]]:
        """The path of each ONNX model that failed whatever its parts say, and why."""
        return [(result.path, result.problem) for result in self.results if result.problem]

    @property
    def errors(self) -> int:
        """The number of findings that are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether the check came to its end, there was a layer or an output, all passed, no model has a problem, and no finding
        is an error.
        """
        right = all(output.comparison.passed for _, output in self.outputs) and not self.problems
        is_whole = bool(self.layers or self.outputs) and not self.stopped
        return is_whole and not self.failed and right and not self.errors

    @cached_property
    def counts(self) -> Counter[Status]:
        """The number of comparisons of layers with each status."""
        return Counter(comparison.status for layer in self.layers for comparison in layer.comparisons)

    @property
    def seed(self) -> int | None:
        """The seed of the inputs; None if there is no result."""
        return self.results[0].seed if self.results else None

    @property
    def environment(self) -> Environment:
        """The environment of the first result, for all results are of one run."""
        return self.results[0].environment if self.results else Environment()

    @property
    def divergences(self) -> Mapping[str, str]:
        """The names of the divergences that layers showed, each with its reason."""
        reasons = {known.name: known.why for known in DIVERGENCES}
        return {name: reasons.get(name, "") for layer in self.layers for name in layer.divergences}


def outcome(layer: LayerResult) -> Status:
    """Tell the worst that happened to a layer: FAILED, EXPECTED, or PASSED."""
    if not layer.passed:
        return Status.FAILED
    return Status.EXPECTED if any(comparison.status is Status.EXPECTED for comparison in layer.comparisons) else Status.PASSED


def failures(layer: LayerResult) -> Sequence[tuple[CaseResult, Comparison]]:
    """List what failed in a layer, case by case."""
    comparisons = ((case, comparison) for case in layer.cases for comparison in case.comparisons)
    return [(case, comparison) for case, comparison in comparisons if comparison.status is Status.FAILED]


def word(status: Status) -> str:
    """Name a status as reports do."""
    return status.value.lower()
