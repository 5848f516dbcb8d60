"""`ov_gather.accelerate`: the pass pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ov_gather.acceleration.absorb_transposes import absorb_transposes
from ov_gather.acceleration.assign_blocks import assign_blocks
from ov_gather.acceleration.changes import Summary, Tracker
from ov_gather.acceleration.fold_constants import fold_constants
from ov_gather.acceleration.fuse_aggregations import fuse_aggregations
from ov_gather.acceleration.gather_halves import gather_halves
from ov_gather.acceleration.gather_logits import gather_logits
from ov_gather.acceleration.gather_tuples import gather_tuples
from ov_gather.acceleration.join_gathers import join_gathers
from ov_gather.acceleration.names import unique_names
from ov_gather.acceleration.replace_elements import fold_broadcasts, replace_elements, to_gather
from ov_gather.acceleration.replace_scatters import scatter_elements, scatter_rows
from ov_gather.acceleration.scatter_slices import scatter_slices
from ov_gather.acceleration.shield_selects import shield_selects
from ov_gather.acceleration.shrink_constants import shrink_constants
from ov_gather.acceleration.split_gathers import split_gathers
from ov_gather.acceleration.symbols import symbols
from ov_gather.extension import checked_path
from ov_gather.extension.python_api import Model
from ov_gather.system import logs


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass of `accelerate`.

    Attributes:
        name: the name by which users choose it.
        run: rewrites a model in place and records the changes.
        portable: True if its result may consist of stock operations alone.
        options: the arguments of `accelerate` that `run` takes, too.
    """

    name: str
    run: Callable[..., None]
    portable: bool = False
    options: tuple[str, ...] = ()


PASSES: Mapping[str, Pass] = {
    each.name: each
    for each in (
        Pass("fold-constants", fold_constants, portable=True),
        Pass("gather-tuples", gather_tuples, portable=True),
        Pass("split-gathers", split_gathers, portable=True),
        Pass("assign-blocks", assign_blocks, portable=True),
        Pass("scatter-rows", scatter_rows, portable=True, options=("portable",)),
        Pass("scatter-slices", scatter_slices, portable=True),
        Pass("scatter-elements", scatter_elements),
        Pass("fuse-aggregations", fuse_aggregations),
        Pass("gather-logits", gather_logits),
        Pass("shrink-constants", shrink_constants, portable=True),
        Pass("join-gathers", join_gathers, portable=True, options=("portable", "assume_in_bounds")),
        Pass("to-gather", to_gather, portable=True, options=("assume_in_bounds",)),
        Pass("fold-broadcasts", fold_broadcasts),
        Pass("replace-elements", replace_elements),
        Pass("absorb-transposes", absorb_transposes),
        Pass("gather-halves", gather_halves),
    )
}
"""The passes by name, in the order in which they run."""


def accelerate(
    model: Model,
    *,
    portable: bool = False,
    assume_in_bounds: bool = False,
    passes: Collection[str] | None = None,
    leave: Collection[str] = (),
) -> Summary:
    """Make the gathers and scatters of a model and its sub-graphs faster, in place.

    Results in f32 stay bit-identical, and errors are raised as before. In bf16 (the default on CPUs that support it) and f16,
    changes that the summary marks may round at other places, no less accurately. One exception: OpenVINO reads some gathers of
    constants in the wrong layout; they are folded to constants, which it reads correctly.

    Args:
        model: a model that is not compiled. A core must be `register`ed to read it again once it is saved.
        portable: use stock operations only, so that no extension is needed.
        assume_in_bounds: with `portable`, assume that every index is in bounds. Gather-8, which then replaces GatherElements-6
            without a proof, writes zeros for an index out of bounds, where GatherElements-6 raises.
        passes: names from PASSES, of portable ones only with `portable`; all by default. They run in the order of PASSES.
        leave: names (as in `Change.layer`) of gathers and scatters to leave unchanged. Those that OpenVINO would read in the
            wrong layout are folded all the same.

    Returns:
        For each gather and scatter, the changes or the reason why there are none; prints as a table.

    Raises:
        TypeError: `model` is not an `openvino.Model`.
        ValueError: a pass is unknown, or `assume_in_bounds` is set without `portable`.
        FileNotFoundError, ImportError: there is no extension for this OpenVINO, see `register`.
    """
    if not isinstance(model, Model):
        hint = ": accelerate it before it is compiled" if type(model).__name__ == "CompiledModel" else ""
        raise TypeError(f"model must be an openvino.Model, not {type(model).__name__}{hint}")
    if assume_in_bounds and not portable:
        raise ValueError("assume_in_bounds is for portable: our operations check every index")
    known = [name for name, each in PASSES.items() if each.portable or not portable]
    if unknown := sorted(set(passes or ()) - set(known)):
        raise ValueError(f"there is no {'portable ' * portable}pass {', '.join(unknown)}; there are {', '.join(known)}")
    if not portable:
        checked_path()  # before anything is changed
    tracker, options = Tracker(model, leave), {"portable": portable, "assume_in_bounds": assume_in_bounds}
    with unique_names(model), symbols(model):
        for each in (PASSES[name] for name in known if passes is None or name in passes):
            each.run(model, tracker, **{name: options[name] for name in each.options})
    if not portable:
        shield_selects(model)
    summary = tracker.summary(model)
    for change in summary.changes:
        logs.info("acceleration", "%s '%s': %s", change.operation, change.layer, "; ".join(change.steps) or change.reason)
    return summary
