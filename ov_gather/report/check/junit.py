"""What came out of `ov-gather check` as JUnit XML: beside the suite of validation one of layers, of outputs of
whole models, and of models that failed as a whole, each a test case."""

from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element, SubElement

from ov_gather.crosscheck.results import LayerResult, OutputResult
from ov_gather.ir.errors import printable
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.tables import failures
from ov_gather.report.findings.base import Report, path_text
from ov_gather.report.findings.junit import document, suite


def render(report: CheckReport) -> str:
    """Two suites. A layer fails with everything that nothing explains; divergences that do are its output."""
    paths = [*(layer.path for layer in report.layers), *(finding.location.path for finding in report.findings)]
    validation = suite(Report(list(dict.fromkeys(paths)), report.findings))
    layers = Element("testsuite", {"name": "ov-gather check"})
    layers.extend(map(_case, report.layers))
    layers.extend(_output(*it) for it in report.outputs)
    layers.extend(_model(*it) for it in report.problems)
    return document(validation, layers)


def _output(path: str, output: OutputResult) -> Element:
    path, name = printable(path_text(path)), printable(f"output '{output.name}'")
    case = Element("testcase", {"classname": path, "name": name, "file": path})
    if not output.comparison.passed:
        SubElement(case, "failure", {"type": "difference", "message": printable(str(output.comparison))})
    return case


def _model(path: str, problem: str) -> Element:
    path = printable(path_text(path))
    case = Element("testcase", {"classname": path, "name": "the whole model", "file": path})
    SubElement(case, "failure", {"type": "difference", "message": printable(problem)})
    return case


def _case(layer: LayerResult) -> Element:
    seconds = sum(it.seconds or 0 for it in layer.comparisons)
    path, name = printable(path_text(layer.path)), printable(f"{layer.operation} '{layer.layer}'")
    case = Element("testcase", {"classname": path, "name": name, "file": path, "time": f"{seconds:.6f}"})
    if not layer.passed:
        lines = [printable(line) for line in failures(layer)] or ["there was no case"]
        SubElement(case, "failure", {"type": "difference", "message": lines[0]}).text = "\n".join(lines)
    if layer.divergences:
        counts = Counter(f"{it.runtime}: {it.status.value}: {name}" for it in layer.comparisons for name in it.divergences)
        SubElement(case, "system-out").text = "\n".join(printable(f"{line}, {count} times") for line, count in counts.items())
    return case
