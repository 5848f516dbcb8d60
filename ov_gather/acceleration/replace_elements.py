"""GatherElements-6 becomes ours."""

from __future__ import annotations

from openvino import Model

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import ours, stock


def replace_elements(model: Model, log: Log) -> None:
    """Of dynamic shapes ours takes indices smaller than data off the axis, too, as ONNX has it; GatherElements-6 raises."""
    for gather in stock(model, "GatherElements-6"):
        attributes = {"axis": gather.get_attributes()["axis"], "broadcast": False}
        log.replace(gather, ours("GatherElements", gather.input_values(), attributes))
