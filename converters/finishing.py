"""The last steps of every conversion, from ONNX and from PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from ov_gather.system import logs

from .inexactness import Inexactness
from .passes.rewriter import Rewrite

if TYPE_CHECKING:
    import openvino


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: the OpenVINO model, the rewrites, and where it departs from the source."""

    model: openvino.Model
    rewrites: Sequence[Rewrite]
    inexactness: Sequence[Inexactness]
    # Name of an input or output in lanes -> its name in the source, and its element type there.
    in_lanes: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def finish(model: openvino.Model) -> tuple[list[Rewrite], list[Inexactness]]:
    """Repair what OpenVINO would compute differently, and simplify proved and constant gathers.

    Return the rewrites, and the known faults of OpenVINO that the model still meets.
    """
    from ov_gather.acceleration.changes import Tracker
    from ov_gather.acceleration.compressed import keep_compressed
    from ov_gather.acceleration.fold_constants import fold_constants
    from ov_gather.acceleration.guards import empty_gathers, fill
    from ov_gather.acceleration.proved_gathers import use_stock_where_proved
    from ov_gather.acceleration.shield_selects import shield_selects

    from .folding import compare_with_zero, drop_padded_windows, keep_order_of_ties, keep_ranks, repair_division
    from .repairs import repair_faults

    repair_division(model)
    compare_with_zero(model)
    keep_ranks(model)
    keep_order_of_ties(model)
    drop_padded_windows(model)
    what = "no index can be out of bounds: OpenVINO's own operation, as there is nothing to check"
    done = [Rewrite(f"node '{name}'", what, True) for name in use_stock_where_proved(model)]
    tracker = Tracker(model)
    fold_constants(model, tracker, only_misread=False)
    for change in tracker.summary(model).changed:
        name = f"node {change.operation.partition('-')[0]} '{change.layer}'"
        done.append(Rewrite(name, "gather of constants folded", True))
    what = "weights left compressed: only what is gathered is decompressed"
    done += [Rewrite(f"node Gather '{name}'", what, True) for name in keep_compressed(model)]
    for gather in empty_gathers(model):
        done.append(Rewrite(f"node Gather '{gather.get_friendly_name()}'", "padded, as OpenVINO dies of what is empty", True))
        fill(gather)
    shield_selects(model)
    repaired, left = repair_faults(model)
    return [*done, *repaired], left


def record(model: openvino.Model, target: str, inexactness: Sequence[Inexactness]) -> None:
    """Write version, target and losses into the model's rt_info, and log the losses."""
    model.set_rt_info(version("ov-gather"), ["ov_gather", "version"])
    model.set_rt_info(target, ["ov_gather", "target"])
    model.set_rt_info("; ".join(map(str, inexactness)), ["ov_gather", "losses"])
    for each in inexactness:
        logs.info("converters", "%s", each)
