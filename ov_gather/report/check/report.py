"""Input of all output formats of `ov-gather check`, and facts and words that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ov_gather.crosscheck.results import (
    CaseResult,
    Comparison,
    CrossCheckResult,
    Environment,
    LayerResult,
    OutputResult,
    Status,
)
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.rules.findings import Finding, Severity


@dataclass(frozen=True)
class CheckReport:
    """Results of `ov-gather check`.

    Attributes:
        results: one per source.
        findings: findings of validation in all sources, unreadable ones included.
        command, date: the command line, and the time of the report.
        stopped: the progress at which the check was interrupted; "" if it completed.
    """

    results: Sequence[CrossCheckResult]
    findings: Sequence[Finding] = ()
    command: str = ""
    date: str = ""
    stopped: str = ""

    @cached_property
    def layers(self) -> Sequence[LayerResult]:
        """Layers of all sources."""
        return [layer for result in self.results for layer in result.layers]

    @cached_property
    def outputs(self) -> Sequence[tuple[str, OutputResult]]:
        """Outputs of all models, each with the path of its source."""
        return [(result.path, output) for result in self.results for output in result.outputs]

    @cached_property
    def values(self) -> Sequence[tuple[str, OutputResult]]:
        """Values between layers that are compared with the definitions of the layers, each with the path of its source."""
        return [(result.path, value) for result in self.results for value in result.definitions.values]

    @cached_property
    def onnx_results(self) -> Sequence[CrossCheckResult]:
        """Results of ONNX models."""
        return [result for result in self.results if result.original]

    @cached_property
    def ir_results(self) -> Sequence[CrossCheckResult]:
        """Results of IRs, and of a sweep."""
        return [result for result in self.results if not result.original]

    @property
    def failed(self) -> int:
        """Number of failed layers."""
        return sum(not layer.passed for layer in self.layers)

    @property
    def problems(self) -> Sequence[tuple[str, str]]:
        """Path and reason of each ONNX model that failed as a whole."""
        return [(result.path, result.problem) for result in self.results if result.problem]

    @property
    def errors(self) -> int:
        """Number of findings that are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether the check completed, had a layer or an output, and found no failure, problem or error."""
        right = all(one.comparison.passed for _, one in (*self.outputs, *self.values)) and not self.problems
        is_whole = bool(self.layers or self.outputs) and not self.stopped
        return is_whole and not self.failed and right and not self.errors

    @cached_property
    def counts(self) -> Counter[Status]:
        """Number of comparisons of layers, by status."""
        return Counter(comparison.status for layer in self.layers for comparison in layer.comparisons)

    @property
    def seed(self) -> int | None:
        """Seed of the inputs; None if there is no result."""
        return self.results[0].seed if self.results else None

    @property
    def environment(self) -> Environment:
        """Environment of the first result; all results come from the same run."""
        return self.results[0].environment if self.results else Environment()

    @property
    def divergences(self) -> Mapping[str, str]:
        """Reason of each divergence that layers showed, by name."""
        reasons = {known.name: known.why for known in DIVERGENCES}
        return {name: reasons.get(name, "") for layer in self.layers for name in layer.divergences}


def outcome(layer: LayerResult) -> Status:
    """Return the worst status of a layer: FAILED, EXPECTED, or PASSED."""
    if not layer.passed:
        return Status.FAILED
    return Status.EXPECTED if any(comparison.status is Status.EXPECTED for comparison in layer.comparisons) else Status.PASSED


def failures(layer: LayerResult) -> Sequence[tuple[CaseResult, Comparison]]:
    """Return the failed comparisons of a layer, each with its case."""
    comparisons = ((case, comparison) for case in layer.cases for comparison in case.comparisons)
    return [(case, comparison) for case, comparison in comparisons if comparison.status is Status.FAILED]


def word(status: Status) -> str:
    """Return the name of a status in reports."""
    return status.value.lower()
