"""GatherElements of whole slices becomes Gather-8, which needs no extension.

before: GatherElements-6(data [8, 64], Broadcast(i [5, 1] to [5, 64]), axis 0)
after:  Gather-8(data, i [5], axis 0)
"""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import gathers_elements, walk
from ov_gather.acceleration.quantised import is_quantised
from ov_gather.acceleration.ranges import BoundsQueries
from ov_gather.acceleration.rounding import FUSED_OVER, would_fuse_across
from ov_gather.acceleration.slices import NoSlices, slices_of, why_not_stock
from ov_gather.extension.python_api import Model
from ov_gather.extension.python_api import opset13 as ops


def to_gather(model: Model, tracker: Tracker, *, assume_in_bounds: bool = False) -> None:
    """Rewrite if indices are proved in bounds or assumed to be, and OpenVINO would not then compute data in 8 bits."""
    quantised, bounds = is_quantised(model), BoundsQueries(model)
    for gather in [node for _, node in walk(model) if gathers_elements(node) and not tracker.leaves(node)]:
        found = slices_of(gather, bounds)
        if isinstance(found, NoSlices):
            tracker.kept(gather, found.reason)
        elif reason := why_not_stock(found, is_quantised=quantised, assume_in_bounds=assume_in_bounds):
            tracker.kept(gather, reason)
        elif would_fuse_across(found.data, gather):
            tracker.kept(gather, FUSED_OVER)
        else:
            tracker.replace(gather, ops.gather(found.data, found.indices, ops.constant(found.axis), found.batch_dims))
