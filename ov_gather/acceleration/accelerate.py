"""`ov_gather.accelerate`: the pass pipeline."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

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
from ov_gather.system import logs

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
    """Make the gathers and scatters of a model and its sub-graphs faster, in place.

    Results in f32 stay bit-identical, and errors are raised as before. In bf16 (the default on CPUs that support it) and f16,
    changes that the summary marks may round at other places, no less accurately. One exception: OpenVINO reads some gathers of
    constants in the wrong layout; they are folded to constants, which it reads correctly.

    Args:
        model: a model that is not compiled. A core must be `register`ed to read it again once it is saved.
        portable: use stock operations only, so that no extension is needed.
        assume_in_bounds: with `portable`, assume that every index is in bounds. Gather-8, which then replaces GatherElements-6
            without a proof, writes zeros for an index out of bounds, where GatherElements-6 raises.
        passes: names from PASSES, or from PORTABLE with `portable`; all by default. They run in the order of that list.
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
    manager.set_per_pass_validation(False)  # it would drop the symbols of dimensions
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
