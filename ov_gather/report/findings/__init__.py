"""Reports of `ov-gather validate`: one file per format, each with a function `render` from a Report to text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_gather.report.findings.report import Report

# A new format needs its name here and a module of that name, which is imported on demand.
FORMATS = ("text", "concise", "json", "sarif", "junit", "github")


def render(report: Report, name: str) -> str:
    """Return a report in one of FORMATS, with terminal colours if the format has them."""
    text: str = import_module(f"ov_gather.report.findings.{name}").render(report)
    return text
