"""`ov_gather.harden`: guards for indices that are not proved to be in bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from ov_gather.acceleration.hardened_sites import HardeningSummary
from ov_gather.acceleration.hardening import Hardening, Policy
from ov_gather.acceleration.names import unique_names
from ov_gather.extension import checked_path
from ov_gather.extension.python_api import Model
from ov_gather.ranges.prove import Limits, assumption, graph_of
from ov_gather.system import logs

POLICIES: tuple[str, ...] = get_args(Policy)


def harden(
    model: Model,
    *,
    policy: Policy = "raise",
    portable: bool = False,
    guarded: bool = False,
    assume: Mapping[str, Limits] | None = None,
) -> HardeningSummary:
    """Make a model safe, in place: whatever integers its inputs hold, no gather or scatter reads or writes out of bounds.

    Sites whose indices are proved to be in bounds stay unchanged. If all indices are in bounds the results are the same as
    before, bit-identical in f32.

    Args:
        model: a model that is not compiled.
        policy: the treatment of an index out of bounds, in the model and its bodies. "raise": the inference fails. "clamp": the
            nearest index in bounds is used. "zero": gathers read 0, and scatters drop the update. Empty axes always raise.
        portable: implement "raise" with stock operations; by default it uses ours, which require a core that is `register`ed.
            "clamp" and "zero" always use stock operations.
        guarded: assume that `ov_gather.guard` of this model, with the same `assume`, checks each request. Sites that its
            conditions keep in bounds stay unchanged; it lists the others as `uncovered`.
        assume: bounds of inputs and dynamic dimensions, as in `prove`. Sites that these prove stay unchanged.

    Returns:
        What was proved for each gather and scatter, and the changes; prints as a table.

    Raises:
        TypeError: `model` is not an `openvino.Model`.
        ValueError: the policy is unknown; `assume` names an unknown input, or contradicts itself or the model; `guarded`, and
            two inputs have the same name.
        FileNotFoundError, ImportError: there is no extension for this OpenVINO, see `register`.
    """
    if not isinstance(model, Model):
        hint = ": harden it before it is compiled" if type(model).__name__ == "CompiledModel" else ""
        raise TypeError(f"model must be an openvino.Model, not {type(model).__name__}{hint}")
    if policy not in POLICIES:
        raise ValueError(f"there is no policy {policy!r}; there are {', '.join(POLICIES)}")
    graph = graph_of(model)
    given = assumption(graph, assume or {})
    if policy == "raise" and not portable:
        checked_path()  # before anything is changed
    with unique_names(model):
        summary = Hardening(model, graph, given, policy, portable, guarded).run()
    for site in summary.sites:
        logs.info("acceleration", "%s '%s': %s, %s", site.operation, site.layer, site.status, site.done or site.kept or "left")
    return summary
