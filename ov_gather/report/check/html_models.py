"""Models in the HTML report: outputs, models that failed or were not run, and inexactness of conversions."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.crosscheck.comparisons import Status
from ov_gather.report.check.html_layer import css_class
from ov_gather.report.check.page import row, table
from ov_gather.report.check.report import CheckReport
from ov_gather.report.elements import Element, element
from ov_gather.report.places import path_text


def models_section(report: CheckReport) -> Iterator[Element]:
    """Yield the section of models, if it has any content."""
    rows = [
        row(
            path_text(path),
            output.name,
            f"{output.type}{list(output.shape)}",
            element("td", f"{output.comparison.runtime}: {output.comparison}", class_=css_class(output.comparison.status)),
        )
        for path, output in report.outputs
    ]
    not_run = [
        element("p", f"{path_text(result.path)}: not run as a whole: {result.not_run}")
        for result in report.results
        if result.not_run
    ]
    failed = [
        element("p", f"{path_text(path)}: {problem}", class_=css_class(Status.FAILED)) for path, problem in report.problems
    ]
    inexactness = [
        element("p", f"{path_text(result.path)}: not as ONNX says: {text}")
        for result in report.results
        for text in result.inexactness
    ]
    if rows or not_run or failed or inexactness:
        tables = [table("outputs", ("file", "output", "shape", "result"), rows)] if rows else []
        yield element("section", element("h2", "Whole models"), *failed, *tables, *not_run, *inexactness, class_="findings")
