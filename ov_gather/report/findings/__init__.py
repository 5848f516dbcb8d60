"""This module tells what `ov-gather validate` prints and writes. One file is one format, with a function `render` from a Report
to text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_gather.report.findings.report import Report

# A new format needs its name here and a module of that name. A module is imported only when its format is asked for.
FORMATS = ("text", "concise", "json", "sarif", "junit", "github")


def render(report: Report, name: str) -> str:
    """Return the text of a report in one of FORMATS, with the colours of a terminal if the format has them."""
    text: str = import_module(f"ov_gather.report.findings.{name}").render(report)
    return text
