"""GatherElements-6 becomes ours."""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import nodes_of
from ov_gather.extension.python_api import Model


def replace_elements(model: Model, tracker: Tracker) -> None:
    """Where shapes are open and GatherElements-6 may raise for indices smaller than data off the axis, ours does so, too."""
    for gather in nodes_of(model, "GatherElements-6"):
        if not tracker.leaves(gather):
            tracker.replace_by_ours(gather, gather.input_value(1), broadcast=False)
