"""Workflow commands of GitHub Actions, which become annotations on changed files."""

from __future__ import annotations

from typing import Literal

from ov_gather.report.places import path_text
from ov_gather.system.tables import printable

Level = Literal["error", "warning", "notice"]


def annotation(level: Level, path: str, line: int, title: str, *texts: str) -> str:
    """Return the command for an annotation at a line of a file, or at its first line if the line is 0; each text is a line."""
    message = _escape("\n".join(map(printable, filter(None, texts))))
    return f"::{level} file={_property(path_text(path))},line={max(line, 1)},title={_property(title)}::{message}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # Escape first, so that `printable` does not alter the file name; it keeps other control characters from terminals.
    return printable(_escape(text).replace(":", "%3A").replace(",", "%2C"))
