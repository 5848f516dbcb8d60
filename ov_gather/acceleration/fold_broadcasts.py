"""An index that is repeated off the axis: our GatherElements repeats it by itself."""

from __future__ import annotations

from openvino import Model

from ov_gather.acceleration.changes import Log
from ov_gather.acceleration.graph import axis_of, stock
from ov_gather.acceleration.repeated import unrepeated, why_not_exact


def fold_broadcasts(model: Model, log: Log) -> None:
    """Other readers of the index keep it as it is."""
    for gather in stock(model, "GatherElements-6"):
        data, index = gather.input_values()
        smaller, axis = unrepeated(index), axis_of(gather)
        if axis is None or smaller == index:
            continue
        if reason := why_not_exact(data, index, smaller, axis):
            log.kept(gather, f"index not folded: {reason}")
        else:
            log.replace_by_ours(gather, smaller, broadcast=True)
