"""The words by which every report names a file, a line and a layer."""

from __future__ import annotations

import os

from ov_gather.rules.findings import Finding, Location


def path_text(path: str) -> str:
    """The path in Unicode: a byte of a file name that is not UTF-8 becomes \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def place_text(place: Location) -> str:
    """File and line, e.g. "model.xml:25"; the file alone where no line is known, as of a file that was not opened."""
    return path_text(place.path) + (f":{place.line}" if place.line else "")


def layer_text(place: Location) -> str:
    """The layer with the way to it through sub-graphs: "If 'x' / then_body / GatherElements 'y' (layer 2), port 1"."""
    if place.layer_id is None:
        return " / ".join(place.trail)
    port = "" if place.port is None else f", port {place.port}"
    return " / ".join((*place.trail, f"{place.layer_type} '{place.layer_name}' (layer {place.layer_id}){port}"))


def message_text(finding: Finding) -> str:
    """The layer, and what is wrong with it."""
    layer = layer_text(finding.location)
    return f"{layer}: {finding.message}" if layer else finding.message
