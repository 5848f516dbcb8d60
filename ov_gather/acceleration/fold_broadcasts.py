"""An index that is repeated off the axis: our GatherElements repeats it by itself."""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import axis_of, gathers_elements, walk
from ov_gather.acceleration.repeated import unrepeated, why_not_exact
from ov_gather.extension.python_api import Model


def fold_broadcasts(model: Model, tracker: Tracker) -> None:
    """Other readers of the index keep it as it is."""
    for gather in [node for _, node in walk(model) if gathers_elements(node) and not tracker.leaves(node)]:
        index = gather.input_value(1)
        smaller, axis = unrepeated(index), axis_of(gather)
        if axis is None or smaller == index:
            continue
        if reason := why_not_exact(gather, smaller, axis):
            tracker.kept(gather, f"index not folded: {reason}")
        else:
            tracker.replace_by_ours(gather, smaller, broadcast=True)
