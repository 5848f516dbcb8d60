"""One file = one output format: a function `render` from a Report to text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_gather.report.findings.report import Report

# A new format is a name here and a module of that name. Each is imported only when it is asked for.
FORMATS = ("text", "concise", "json", "sarif", "junit", "github")


def render(report: Report, name: str) -> str:
    """The report in one of FORMATS, with terminal colours where the format has them."""
    text: str = import_module(f"ov_gather.report.findings.{name}").render(report)
    return text
