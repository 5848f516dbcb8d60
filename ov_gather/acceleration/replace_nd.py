"""GatherND-8 becomes ours."""

from __future__ import annotations

from openvino import Model

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import ours, stock


def replace_nd(model: Model, log: Log) -> None:
    """An index out of bounds, for which GatherND-8 reads foreign memory, is an error then."""
    for gather in stock(model, "GatherND-8"):
        log.replace(gather, ours("GatherND", gather.input_values(), gather.get_attributes()))
