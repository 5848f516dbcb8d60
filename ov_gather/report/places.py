"""The words by which every report names a file, a line and a layer."""

from __future__ import annotations

import os

from ov_gather.ir.location import Location
from ov_gather.rules.findings import Finding


def path_text(path: str) -> str:
    """Return the path in Unicode: a byte of a file name that is not UTF-8 becomes \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def place_text(place: Location) -> str:
    """File and line, e.g. "model.xml:25"; the file alone where no line is known, as of a file that was not opened."""
    return path_text(place.path) + (f":{place.line}" if place.line else "")


def message_text(finding: Finding) -> str:
    """Return the layer, and what is wrong with it."""
    layer = finding.location.layer_text
    return f"{layer}: {finding.message}" if layer else finding.message
