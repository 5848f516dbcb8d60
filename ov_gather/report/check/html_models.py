"""Whole models on the page: their outputs, which failed or were not run, and what their conversion lost."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ov_gather.crosscheck.results import Status
from ov_gather.report.check.elements import element, table
from ov_gather.report.check.html_layer import css_class
from ov_gather.report.check.report import CheckReport
from ov_gather.report.findings.base import path_text


def whole_models(report: CheckReport) -> Iterator[Element]:
    """A section, where there are any."""
    rows = [
        element(
            "tr",
            element("td", path_text(path)),
            element("td", it.name),
            element("td", f"{it.type}{list(it.shape)}"),
            element("td", f"{it.comparison.runtime}: {it.comparison}", class_=css_class(it.comparison.status)),
        )
        for path, it in report.outputs
    ]
    not_run = [element("p", f"{path_text(it.path)}: not run as a whole: {it.not_run}") for it in report.results if it.not_run]
    failed = [
        element("p", f"{path_text(path)}: {problem}", class_=css_class(Status.FAILED)) for path, problem in report.problems
    ]
    losses = [element("p", f"{path_text(it.path)}: not as ONNX says: {loss}") for it in report.results for loss in it.losses]
    if rows or not_run or failed or losses:
        tables = [table("outputs", ("file", "output", "shape", "result"), rows)] if rows else []
        yield element("section", element("h2", "Whole models"), *failed, *tables, *not_run, *losses, class_="findings")
