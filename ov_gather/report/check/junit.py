"""JUnit XML report of `ov-gather check`.

The first suite is the validation; the second has one test case per layer, per output of a model, per value between layers that
is compared, and per model that failed as a whole.
"""

from __future__ import annotations

from collections import Counter

from ov_gather.crosscheck.results import LayerResult, OutputResult
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.text import failure_lines
from ov_gather.report.elements import Element, element, junit_document
from ov_gather.report.findings import Report
from ov_gather.report.findings.junit import suite
from ov_gather.report.places import path_text
from ov_gather.system.tables import printable


def render(report: CheckReport) -> str:
    """Return the file with both suites. A layer fails for unexplained differences; known divergences are its output."""
    paths = [*(layer.path for layer in report.layers), *(finding.location.path for finding in report.findings)]
    validation = suite(Report(list(dict.fromkeys(paths)), report.findings))
    cases = (
        *(_layer(layer) for layer in report.layers),
        *(_output(path, "output", output) for path, output in report.outputs),
        *(_output(path, "value", value) for path, value in report.values),
        *(_case(path, "the whole model", problem) for path, problem in report.problems),
        *([_case("ov-gather check", "the rest", f"stopped at {report.stopped}")] if report.stopped else []),
    )
    return junit_document(validation, element("testsuite", *cases, name="ov-gather check"))


def _layer(layer: LayerResult) -> Element:
    seconds = sum(comparison.seconds or 0 for comparison in layer.comparisons)
    lines = [] if layer.passed else [printable(line) for line in failure_lines(layer)] or ["there was no case"]
    name = f"{layer.operation} '{layer.layer}'"
    case = _case(layer.path, name, lines[0] if lines else "", "\n".join(lines), time=f"{seconds:.6f}")
    if layer.divergences:
        counts = Counter(
            f"{comparison.runtime}: {comparison.status.value}: {name}"
            for comparison in layer.comparisons
            for name in comparison.divergences
        )
        lines = [printable(f"{line}, {count} times") for line, count in counts.items()]
        case.append(element("system-out", "\n".join(lines)))
    return case


def _output(path: str, what: str, output: OutputResult) -> Element:
    return _case(path, f"{what} '{output.name}'", "" if output.comparison.passed else str(output.comparison))


def _case(path: str, name: str, problem: str, details: str = "", **attributes: str) -> Element:
    """Return a test case, which fails if `problem` is not empty."""
    file = printable(path_text(path))
    case = element("testcase", classname=file, name=printable(name), file=file, **attributes)
    if problem:
        case.append(element("failure", details, type="difference", message=printable(problem)))
    return case
