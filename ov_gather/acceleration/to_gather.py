"""GatherElements-6 of whole slices becomes Gather-8, which needs no extension."""

from __future__ import annotations

from openvino import Model
from openvino import opset8 as ops

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import stock
from ov_gather.acceleration.slices import slices_of


def to_gather(model: Model, log: Log, *, assume_in_bounds: bool = False) -> None:
    """Where the index is in bounds whatever the inputs are, or `assume_in_bounds`: Gather-8 writes zeros where GatherElements-6
    raises."""
    for gather in stock(model, "GatherElements-6"):
        found = slices_of(gather)
        if isinstance(found, str):
            log.kept(gather, found)
        elif found.out_of_bounds and not assume_in_bounds:
            log.kept(gather, found.out_of_bounds)
        else:
            log.replace(gather, ops.gather(found.data, found.indices, ops.constant(found.axis), found.batch_dims))
