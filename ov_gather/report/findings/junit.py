"""JUnit XML, which Jenkins, GitLab, Azure and others show as test results: a file is a test case."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from click import unstyle

from ov_gather.ir.errors import printable
from ov_gather.report.findings.base import Report, message_text, path_text
from ov_gather.report.findings.text import lines
from ov_gather.rules.findings import Finding


def render(report: Report) -> str:
    """One suite. A case fails if a finding makes the command exit 1; what else was found in its file is its output."""
    return document(suite(report))


def document(*suites: Element) -> str:
    """The file with these suites, each with its test cases counted."""
    root = Element("testsuites")
    root.extend(suites)
    for it in (root, *suites):
        it.attrib |= {"tests": _count(it, "testcase"), "failures": _count(it, "failure"), "errors": "0", "skipped": "0"}
    indent(root)
    # ASCII with character references: right in whatever encoding the text is written.
    body: bytes = tostring(root, "us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}\n'


def _count(root: Element, tag: str) -> str:
    return str(sum(1 for _ in root.iter(tag)))


def suite(report: Report) -> Element:
    """The files as test cases."""
    failures: dict[str, list[Finding]] = {}
    others: dict[str, list[Finding]] = {}
    for finding in report.findings:
        (failures if report.fails(finding) else others).setdefault(finding.location.path, []).append(finding)
    suite = Element("testsuite", {"name": "ov-gather validate"})
    if report.statistics:
        properties = SubElement(suite, "properties")
        for name, count in report.statistics.items():
            SubElement(properties, "property", {"name": name, "value": str(count)})
    for file in report.files:
        name = _text(path_text(file))
        case = SubElement(suite, "testcase", {"classname": "ov-gather", "name": name, "file": name})
        if file in failures:
            _add_failure(case, failures[file])
        if file in others:
            SubElement(case, "system-out").text = _lines(others[file])
    return suite


def _add_failure(case: Element, failures: Sequence[Finding]) -> None:
    first = failures[0]
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    attributes = {"type": first.rule, "message": _text(f"{first.rule}: {message_text(first)}{more}")}
    SubElement(case, "failure", attributes).text = _lines(failures)


def _lines(findings: Sequence[Finding]) -> str:
    return unstyle("\n".join(lines(findings)))


def _text(text: str) -> str:
    return printable(text)  # XML 1.0 has no way at all to write most control characters
