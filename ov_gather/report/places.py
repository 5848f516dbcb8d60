"""Names of files, lines and layers in all reports."""

from __future__ import annotations

import os

from ov_gather.ir.location import Location
from ov_gather.rules.findings import Finding


def path_text(path: str) -> str:
    r"""Return the path in Unicode; bytes that are not UTF-8 become \xff escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def place_text(place: Location) -> str:
    """Return file and line, e.g. "model.xml:25"; only the file if the line is unknown."""
    return path_text(place.path) + (f":{place.line}" if place.line else "")


def message_text(finding: Finding) -> str:
    """Return the message, after the name of the layer if there is one."""
    layer = finding.location.layer_text
    return f"{layer}: {finding.message}" if layer else finding.message
