"""What every output format of `ov-gather check` is given, and the facts and words that they share."""

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
    """What `ov-gather check` came to: a result for each source, and what validation found in all, those that could not be read
    included; the command that was run, and when."""

    results: Sequence[CrossCheckResult]
    findings: Sequence[Finding] = ()
    command: str = ""
    date: str = ""

    @cached_property
    def layers(self) -> Sequence[LayerResult]:
        """Those of all sources."""
        return [layer for result in self.results for layer in result.layers]

    @cached_property
    def outputs(self) -> Sequence[tuple[str, OutputResult]]:
        """Those of whole models, each with the path of its source."""
        return [(result.path, it) for result in self.results for it in result.outputs]

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
        right = all(it.comparison.passed for _, it in self.outputs) and not self.problems
        return bool(self.layers or self.outputs) and not self.failed and right and not self.errors

    @cached_property
    def counts(self) -> Counter[Status]:
        """How many comparisons came out how."""
        return Counter(it.status for layer in self.layers for it in layer.comparisons)

    @property
    def seed(self) -> int | None:
        """Of the inputs; None if there is no result."""
        return self.results[0].seed if self.results else None

    @property
    def environment(self) -> Environment:
        """That of the first source, for all are of one run."""
        return self.results[0].environment if self.results else Environment()

    @property
    def divergences(self) -> Mapping[str, str]:
        """By name, why: those that were seen."""
        known = {it.name: it.why for it in DIVERGENCES}
        return {name: known.get(name, "") for result in self.results for name in result.divergences}


def outcome(layer: LayerResult) -> Status:
    """The worst that happened to a layer: FAILED, EXPECTED, or PASSED."""
    if not layer.passed:
        return Status.FAILED
    return Status.EXPECTED if any(it.status is Status.EXPECTED for it in layer.comparisons) else Status.PASSED


def failures(layer: LayerResult) -> Sequence[tuple[CaseResult, Comparison]]:
    """What failed, case by case."""
    return [(case, it) for case in layer.cases for it in case.comparisons if it.status is Status.FAILED]


def word(status: Status) -> str:
    """What reports call it."""
    return status.value.lower()
