"""GatherElements-6 becomes ours."""

from __future__ import annotations

from openvino import Model

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import nodes_of


def replace_elements(model: Model, log: Log) -> None:
    """Where shapes are open and GatherElements-6 may raise for indices smaller than data off the axis, ours does so, too."""
    for gather in nodes_of(model, "GatherElements-6"):
        log.replace_by_ours(gather, gather.input_value(1), broadcast=False)
