"""JSON report of `ov-gather diff`."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from ov_gather.ir.differences.changes import Differences, IRChange
from ov_gather.ir.location import Location
from ov_gather.report import json
from ov_gather.report.places import path_text


def render(a: str, b: str, found: Differences) -> str:
    """Return one object with our version, both paths, the changes and their consequences.

    docs/reference/json.md describes the fields.
    """
    document = {
        "version": version("ov-gather"),
        "a": path_text(a),
        "b": path_text(b),
        "same": found.same,
        "changes": [_change(change) for change in found.changes],
        "consequences": [_change(change) for change in found.consequences],
    }
    return json.document(document)


def _change(change: IRChange) -> dict[str, Any]:
    return asdict(change) | {"a": _layer(change.a), "b": _layer(change.b)}


def _layer(place: Location | None) -> dict[str, Any] | None:
    if place is None:
        return None
    trail = {"trail": place.subgraph_path} if place.subgraph_path else {}
    return {"name": place.layer_name, "type": place.layer_type, "id": place.layer_id, "line": place.line} | trail
