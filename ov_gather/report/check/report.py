"""CheckReport: what every output format of `ov-gather check` is given, and the facts and words that the formats share."""

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
from ov_gather.divergences import DIVERGENCES
from ov_gather.rules.findings import Finding, Severity


@dataclass(frozen=True)
class CheckReport:
    """What `ov-gather check` came to: a result for each source that could be read; what validation found in all sources; the
    command that was run, and when."""

    results: Sequence[CrossCheckResult]
    findings: Sequence[Finding] = ()
    command: str = ""
    date: str = ""

    @cached_property
    def layers(self) -> Sequence[LayerResult]:
        """The layers of all sources."""
        return [layer for result in self.results for layer in result.layers]

    @cached_property
    def outputs(self) -> Sequence[tuple[str, OutputResult]]:
        """The outputs of whole models, each with the path of its source."""
        return [(result.path, output) for result in self.results for output in result.outputs]

    @property
    def failed(self) -> int:
        """How many layers failed."""
        return sum(not layer.passed for layer in self.layers)

    @property
    def problems(self) -> Sequence[tuple[str, str]]:
        """Why models failed as a whole, each with its path."""
        return [(result.path, result.problem) for result in self.results if result.problem]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether there was a layer or an output, all passed, no model failed as a whole, and no finding is an error."""
        right = all(output.comparison.passed for _, output in self.outputs) and not self.problems
        return bool(self.layers or self.outputs) and not self.failed and right and not self.errors

    @cached_property
    def counts(self) -> Counter[Status]:
        """How many comparisons have each status."""
        return Counter(comparison.status for layer in self.layers for comparison in layer.comparisons)

    @property
    def seed(self) -> int | None:
        """The seed from which inputs were made; None if there is no result."""
        return self.results[0].seed if self.results else None

    @property
    def environment(self) -> Environment:
        """The environment of the run, which is the same for all sources."""
        return self.results[0].environment if self.results else Environment()

    @property
    def divergences(self) -> Mapping[str, str]:
        """The divergences that were seen: the name of each, and why runtimes diverge."""
        reasons = {divergence.name: divergence.why for divergence in DIVERGENCES}
        return {name: reasons.get(name, "") for result in self.results for name in result.divergences}


def outcome(layer: LayerResult) -> Status:
    """The worst that happened to a layer: FAILED, EXPECTED, or PASSED."""
    if not layer.passed:
        return Status.FAILED
    expected = any(comparison.status is Status.EXPECTED for comparison in layer.comparisons)
    return Status.EXPECTED if expected else Status.PASSED


def failures(layer: LayerResult) -> Sequence[tuple[CaseResult, Comparison]]:
    """The comparisons of a layer that failed, each with its case."""
    return [(case, comparison) for case in layer.cases for comparison in case.comparisons if comparison.status is Status.FAILED]


def word(status: Status) -> str:
    """What reports call a status."""
    return status.value.lower()
