"""What is done to a converted model at the end, whatever it was converted from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from ov_gather import logs

from .folding import mend_arithmetic, mend_division
from .inexactness import Inexactness
from .passes.rewriter import Rewrite
from .ties import keep_order_of_ties

if TYPE_CHECKING:
    import openvino


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a model: the OpenVINO model, what was rewritten on the way, and what is not as the original says."""

    model: openvino.Model
    rewrites: Sequence[Rewrite]
    inexactness: Sequence[Inexactness]
    # By the name of an input or output: that of the original, and the type of its numbers.
    in_lanes: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def finish(model: openvino.Model) -> list[Rewrite]:
    """Take away checks that nothing needs, and mend what OpenVINO would compute otherwise; return what was done."""
    from ov_gather.acceleration.shield_selects import shield_selects

    mend_division(model)
    mend_arithmetic(model)
    keep_order_of_ties(model)
    done = [*_without_checks(model), *_constants_folded(model), *_kept_compressed(model)]
    shield_selects(model)
    return done


def record(model: openvino.Model, target: str, inexactness: Sequence[Inexactness]) -> None:
    """Write into the model what it was converted for, by which version, and what is lost."""
    model.set_rt_info(version("ov-gather"), ["ov_gather", "version"])
    model.set_rt_info(target, ["ov_gather", "target"])
    model.set_rt_info("; ".join(map(str, inexactness)), ["ov_gather", "losses"])
    for each in inexactness:
        logs.info("converters", "%s", each)


def _without_checks(model: openvino.Model) -> list[Rewrite]:
    from ov_gather.acceleration.proved_gathers import use_stock_where_proved

    what = "no index can be out of bounds: OpenVINO's own operation, as there is nothing to check"
    return [Rewrite(f"node '{name}'", what, True) for name in use_stock_where_proved(model)]


def _constants_folded(model: openvino.Model) -> list[Rewrite]:
    from ov_gather.acceleration.changes import Tracker
    from ov_gather.acceleration.fold_constants import fold_constants

    tracker = Tracker(model)
    fold_constants(model, tracker, only_misread=False)
    changed = tracker.summary(model).changed
    return [
        Rewrite(f"node {change.operation.partition('-')[0]} '{change.layer}'", "gather of constants folded", True)
        for change in changed
    ]


def _kept_compressed(model: openvino.Model) -> list[Rewrite]:
    from ov_gather.acceleration.compressed import keep_compressed

    what = "weights left compressed: only what is gathered is decompressed"
    return [Rewrite(f"node Gather '{name}'", what, True) for name in keep_compressed(model)]
