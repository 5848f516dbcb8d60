"""`ov_gather.accelerate`: the passes in their order, on one model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from ov_gather import logs
from ov_gather.acceleration.absorb_transposes import absorb_transposes
from ov_gather.acceleration.assign_blocks import assign_blocks
from ov_gather.acceleration.changes import Summary, Tracker
from ov_gather.acceleration.fold_broadcasts import fold_broadcasts
from ov_gather.acceleration.fold_constants import fold_constants
from ov_gather.acceleration.gather_halves import gather_halves
from ov_gather.acceleration.gather_logits import gather_logits
from ov_gather.acceleration.gather_tuples import gather_tuples
from ov_gather.acceleration.join_gathers import join_gathers
from ov_gather.acceleration.names import unique_names
from ov_gather.acceleration.replace_elements import replace_elements
from ov_gather.acceleration.scatter_elements import scatter_elements
from ov_gather.acceleration.scatter_rows import scatter_rows
from ov_gather.acceleration.scatter_slices import scatter_slices
from ov_gather.acceleration.shield_selects import shield_selects
from ov_gather.acceleration.shrink_constants import shrink_constants
from ov_gather.acceleration.split_gathers import split_gathers
from ov_gather.acceleration.symbols import symbols
from ov_gather.acceleration.to_gather import to_gather
from ov_gather.extension import checked_path
from ov_gather.extension.python_api import Manager, Model, ModelPass

Pass = Callable[[Model, Tracker], None]

PASSES: Mapping[str, Pass] = {
    "fold-constants": fold_constants,
    "gather-tuples": gather_tuples,
    "split-gathers": split_gathers,
    "assign-blocks": assign_blocks,
    "scatter-rows": scatter_rows,
    "scatter-slices": scatter_slices,
    "scatter-elements": scatter_elements,
    "gather-logits": gather_logits,
    "shrink-constants": shrink_constants,
    "join-gathers": join_gathers,
    "to-gather": to_gather,
    "fold-broadcasts": fold_broadcasts,
    "replace-elements": replace_elements,
    "absorb-transposes": absorb_transposes,
    "gather-halves": gather_halves,
}
PORTABLE = (
    "fold-constants",
    "gather-tuples",
    "split-gathers",
    "assign-blocks",
    "scatter-rows",
    "scatter-slices",
    "shrink-constants",
    "join-gathers",
    "to-gather",
)


def accelerate(
    model: Model,
    *,
    portable: bool = False,
    assume_in_bounds: bool = False,
    passes: Collection[str] | None = None,
    leave: Collection[str] = (),
) -> Summary:
    """Make the gathers and scatters of a model, and of its sub-graphs, faster, in place.

    What it computes in f32 stays the same, bit by bit, and it raises where it raised. In bf16, OpenVINO's default on CPUs that
    have it, and in f16 what the summary names may be rounded elsewhere, and is no less accurate.
    But OpenVINO reads some gathers of constants in the wrong layout: these become constants, which it reads right.

    Args:
        model: as read or converted, not compiled. To read it again once it is saved, a core must be `register`ed.
        portable: only what needs no extension, with stock operations.
        assume_in_bounds: with `portable`, also where no index is known to be in bounds: for one that is not, Gather-8 writes
            zeros where GatherElements-6 raises.
        passes: names of PASSES, or with `portable` of PORTABLE; all if not given. They run in the order of those.
        leave: gathers and scatters that stay as they are, named as `Change.layer` does; but what OpenVINO would read in the
            wrong layout becomes a constant even so.

    Returns:
        What was done to each gather and scatter, or why nothing; prints as a table.

    Raises:
        TypeError: this is no `openvino.Model`.
        ValueError: there is no such pass, or `assume_in_bounds` without `portable`.
        FileNotFoundError, ImportError: there is no extension for this OpenVINO, as `register` says.
    """
    if not isinstance(model, Model):
        hint = ": accelerate it before it is compiled" if type(model).__name__ == "CompiledModel" else ""
        raise TypeError(f"model must be an openvino.Model, not {type(model).__name__}{hint}")
    if assume_in_bounds and not portable:
        raise ValueError("assume_in_bounds is for portable: our operations check every index")
    known = PORTABLE if portable else tuple(PASSES)
    if unknown := sorted(set(passes or ()) - set(known)):
        raise ValueError(f"there is no {'portable ' * portable}pass {', '.join(unknown)}; there are {', '.join(known)}")
    if not portable:
        checked_path()  # before anything is changed
    work: Mapping[str, Pass] = {
        **PASSES,
        "scatter-rows": partial(scatter_rows, portable=portable),
        "join-gathers": partial(join_gathers, portable=portable, assume_in_bounds=assume_in_bounds),
        "to-gather": partial(to_gather, assume_in_bounds=assume_in_bounds),
    }
    tracker, manager = Tracker(model, leave), Manager()
    manager.set_per_pass_validation(False)  # which would lose what `symbols` keeps apart
    for name in known:
        if passes is None or name in passes:
            manager.register_pass(_ModelPass(work[name], tracker))
    with unique_names(model), symbols(model):
        manager.run_passes(model)
    if not portable:
        shield_selects(model)
    summary = tracker.summary(model)
    for change in summary.changes:
        logs.info("acceleration", "%s '%s': %s", change.operation, change.layer, "; ".join(change.steps) or change.reason)
    return summary


class _ModelPass(ModelPass):  # type: ignore[misc] # openvino has no types
    def __init__(self, work: Pass, tracker: Tracker) -> None:
        super().__init__()
        self._work, self._tracker = work, tracker

    def run_on_model(self, model: Model) -> bool:
        self._work(model, self._tracker)
        return True
