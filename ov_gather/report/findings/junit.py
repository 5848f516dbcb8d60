"""JUnit XML report of `ov-gather validate`: one test case per file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from click import unstyle

from ov_gather.report.elements import Element, element, junit_document
from ov_gather.report.findings import Report
from ov_gather.report.findings.text import lines
from ov_gather.report.places import message_text, path_text
from ov_gather.rules.findings import Finding
from ov_gather.system.tables import printable


def render(report: Report) -> str:
    """Return the file with one suite. A case fails if a finding causes exit code 1; its other findings are its output."""
    return junit_document(suite(report))


def suite(report: Report) -> Element:
    """Return the files as test cases, after the statistics, if requested."""
    failures: dict[str, list[Finding]] = {}
    others: dict[str, list[Finding]] = {}
    for finding in report.findings:
        (failures if report.fails(finding) else others).setdefault(finding.location.path, []).append(finding)
    cases = (_case(file, failures.get(file, ()), others.get(file, ())) for file in report.files)
    return element("testsuite", *_properties(report), *cases, name="ov-gather validate")


def _properties(report: Report) -> Iterator[Element]:
    counts = (element("property", name=name, value=str(count)) for name, count in report.statistics.items())
    if report.statistics:
        yield element("properties", *counts)


def _case(file: str, failures: Sequence[Finding], others: Sequence[Finding]) -> Element:
    name = printable(path_text(file))  # also escapes line ends, which `element` keeps
    case = element("testcase", classname="ov-gather", name=name, file=name)
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        message = printable(f"{failures[0].rule}: {message_text(failures[0])}{more}")
        case.append(element("failure", _lines(failures), type=failures[0].rule, message=message))
    if others:
        case.append(element("system-out", _lines(others)))
    return case


def _lines(findings: Sequence[Finding]) -> str:
    return unstyle("\n".join(lines(findings)))
