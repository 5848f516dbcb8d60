"""Fusion of our GatherElements with a Broadcast of its indices off the axis.

before: GatherElements-6(data [8, 64], Broadcast(i [5, 1] to [5, 64]), axis 0)
after:  ov_gather.GatherElements(data, i, axis 0, broadcast=true)
"""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import axis_of, gathers_elements, walk
from ov_gather.acceleration.repeated import unrepeated, why_not_exact
from ov_gather.extension.python_api import Model


def fold_broadcasts(model: Model, tracker: Tracker) -> None:
    """Rewrite the gathers whose indices repeat. Other readers of the indices keep the Broadcast."""
    for gather in [node for _, node in walk(model) if gathers_elements(node) and not tracker.leaves(node)]:
        index = gather.input_value(1)
        smaller, axis = unrepeated(index), axis_of(gather)
        if axis is None or smaller == index:
            continue
        if reason := why_not_exact(gather, smaller, axis):
            tracker.kept(gather, f"index not folded: {reason}")
        else:
            tracker.replace_by_ours(gather, smaller, broadcast=True)
