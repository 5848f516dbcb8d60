"""Replacement of GatherElements-6 by Gather-8, or by our GatherElements.

1. Whole slices (`to_gather`), which needs no extension:
   before: GatherElements-6(data [8, 64], Broadcast(i [5, 1] to [5, 64]), axis 0)
   after:  Gather-8(data, i [5], axis 0)
2. Indices that repeat off the axis (`fold_broadcasts`):
   before: GatherElements-6(data [8, 64], Broadcast(i [5, 1] to [5, 64]), axis 0)
   after:  ov_gather.GatherElements(data, i, axis 0, broadcast=true)
3. All others (`replace_elements`):
   before: GatherElements-6(data, i)
   after:  ov_gather.GatherElements(data, i)
"""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import axis_of, gathers_elements, nodes_of, walk
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.repeated import unrepeated, why_not_exact
from ov_gather.acceleration.rounding import FUSED_OVER, would_fuse_across
from ov_gather.acceleration.slices import NoSlices, slices_of, why_not_stock
from ov_gather.extension.python_api import Model, Node
from ov_gather.extension.python_api import opset13 as ops


def to_gather(model: Model, tracker: Tracker, *, assume_in_bounds: bool = False) -> None:
    """Rewrite if indices are proved in bounds or assumed to be, and OpenVINO would not then compute data in 8 bits."""
    quantised, bounds = is_quantised(model), BoundsQueries(model)
    for gather in _candidates(model, tracker):
        found = slices_of(gather, bounds)
        if isinstance(found, NoSlices):
            tracker.kept(gather, found.reason)
        elif reason := why_not_stock(found, is_quantised=quantised, assume_in_bounds=assume_in_bounds):
            tracker.kept(gather, reason)
        elif would_fuse_across(found.data, gather):
            tracker.kept(gather, FUSED_OVER)
        else:
            tracker.replace(gather, ops.gather(found.data, found.indices, ops.constant(found.axis), found.batch_dims))


def fold_broadcasts(model: Model, tracker: Tracker) -> None:
    """Rewrite the gathers whose indices repeat. Other readers of the indices keep the Broadcast."""
    for gather in _candidates(model, tracker):
        index = gather.input_value(1)
        smaller, axis = unrepeated(index), axis_of(gather)
        if axis is None or smaller == index:
            continue
        if reason := why_not_exact(gather, smaller, axis):
            tracker.kept(gather, f"index not folded: {reason}")
        else:
            tracker.replace_by_ours(gather, smaller, broadcast=True)


def replace_elements(model: Model, tracker: Tracker) -> None:
    """Rewrite all. Like GatherElements-6, ours with `same_shape` raises for indices that are smaller than data off the axis."""
    for gather in nodes_of(model, "GatherElements-6"):
        if not tracker.leaves(gather):
            tracker.replace_by_ours(gather, gather.input_value(1), broadcast=False)


def _candidates(model: Model, tracker: Tracker) -> list[Node]:
    return [node for _, node in walk(model) if gathers_elements(node) and not tracker.leaves(node)]
