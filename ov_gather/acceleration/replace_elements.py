"""Replacement of GatherElements-6 by our GatherElements."""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import nodes_of
from ov_gather.extension.python_api import Model


def replace_elements(model: Model, tracker: Tracker) -> None:
    """Rewrite all. Like GatherElements-6, ours with `same_shape` raises for indices that are smaller than data off the axis."""
    for gather in nodes_of(model, "GatherElements-6"):
        if not tracker.leaves(gather):
            tracker.replace_by_ours(gather, gather.input_value(1), broadcast=False)
