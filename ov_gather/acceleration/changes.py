"""This module tells what became of each gather and scatter of a model, and why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import (
    COMPUTED_EARLY,
    demands_same_shape,
    has_same_shape,
    is_computed_early,
    is_gather,
    is_scatter,
    operation,
    ours,
    take_place,
    walk,
)
from ov_gather.acceleration.quantised import is_low_precision
from ov_gather.acceleration.rounding import rounds_elsewhere
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.tables import InNotebooks, as_text, table_of

if TYPE_CHECKING:
    from rich.table import Table


SMALL = 8192
"""Elements of an output below which the microseconds to call an operation that is not OpenVINO's own are more than it saves."""


STAYS = "LogSoftmax stays before it"
"""The start of a reason that stands beside those of later passes."""

ROUNDS_ELSEWHERE = "rounds elsewhere in bf16/f16"


@dataclass(slots=True)
class Change:
    """A gather or scatter as it was (`layer` with the layers of the sub-graphs around it), what was done, and why no more.

    `rounds_elsewhere`: the model may give other bits where it is computed in bf16 or f16, no less accurate ones.
    """

    layer: str
    operation: str
    shapes: str
    done: list[str] = field(default_factory=list)
    reason: str = ""
    rounds_elsewhere: bool = False

    @property
    def steps(self) -> list[str]:
        """What was done, in words, and what that means."""
        return [*self.done, *([ROUNDS_ELSEWHERE] if self.rounds_elsewhere else [])]


@dataclass(frozen=True, slots=True)
class Summary(InNotebooks):
    """All gathers and scatters of a model that was accelerated. `str` makes a table of them."""

    changes: tuple[Change, ...]

    @property
    def changed(self) -> tuple[Change, ...]:
        """The gathers and scatters to which something was done."""
        return tuple(change for change in self.changes if change.done)

    def table(self) -> Table:
        """Return one row a gather or scatter, for `rich.print`."""
        rows = ((change.layer, change.operation, change.shapes, change.steps or "no", change.reason) for change in self.changes)
        return table_of(("layer", "operation", "data, indices", "changed", "why no more"), rows)

    def __str__(self) -> str:
        return as_text(self.table()) if self.changes else "no gathers or scatters: the model is unchanged"


def why_not_ours(gather: Node, result: Node) -> str:
    """Tell why an operation of ours should not compute `result` of what `gather` takes; empty if it should."""
    if is_computed_early(gather.input_values()):
        return COMPUTED_EARLY
    data = gather.input_value(0)
    if data.get_node().get_type_name() == "Slice" and is_low_precision(data):
        return "OpenVINO removes the Slice before it, but would compute that in 8 bits before ours"
    kind = data.get_element_type()
    if kind.bitwidth % 8:
        return f"ours takes no {kind.get_type_name()}"
    return "too small to gain" if too_small(result.output(0)) else ""


def too_small(value: Output, times: int = 1) -> bool:
    """Tell whether a value has fewer elements than so many times what is worth while, whatever the inputs are."""
    shape = value.get_partial_shape()
    return bool(shape.is_static and prod(shape.to_shape()) < times * SMALL)


class Tracker:
    """Follows gathers from node to node while the passes run. It does not know those of another graph that shares nodes."""

    def __init__(self, model: Model, leave: Collection[str] = ()) -> None:
        """Begin with the layers of a model; `leave` names those that are to stay as they are."""
        self._changes = {
            node.get_instance_id(): [_as_it_is(place, node)]
            for place, node in walk(model)
            if is_gather(node) or is_scatter(node)
        }

        self._left = {
            number for number, changes in self._changes.items() for change in changes if change.layer in frozenset(leave)
        }
        for number in self._left:
            for change in self._changes[number]:
                change.reason = "it was to stay as it is"

    def leaves(self, node: Node) -> bool:
        """Tell whether a gather or scatter is to stay as it is."""
        return node.get_instance_id() in self._left

    def replace_by_ours(self, gather: Node, indices: Output, *, broadcast: bool) -> None:
        """Our GatherElements takes the place of `gather`, where that is possible and gains something."""
        if reason := why_not_ours(gather, gather):
            self.kept(gather, reason)
            return
        same_shape = not broadcast and demands_same_shape(gather) and not has_same_shape(gather)
        attributes = {"axis": gather.get_attributes()["axis"], "broadcast": broadcast, "same_shape": same_shape}
        self.replace(gather, ours("GatherElements", [gather.input_value(0), indices], attributes))

    def replace(self, gather: Node, other: Node, *, rounds: bool | None = None) -> None:
        """Replace `gather` by `other`, unless `other` has a divergence that `gather` has not, or its shape is less known.

        rounds: as in `done`.
        """
        before, after = gather.get_output_partial_shape(0), other.get_output_partial_shape(0)
        if before != after:
            self.kept(gather, f"of its output shape {before} only {after} would be known")
            return
        if reason := added_divergence(other, gather):
            self.kept(gather, reason)
            return
        take_place(gather, other)
        self.done(gather, f"{operation(other)} by {_shape(other, 1)}", other, rounds=rounds)

    def done(self, gather: Node, what: str, now: Node, *, rounds: bool | None = None) -> None:
        """Something was done to `gather`, which is `now` from here on; several may become one.

        rounds: whether this rounds elsewhere, if another reason than `now` itself tells.
        """
        rounds = rounds_elsewhere(now) if rounds is None else rounds
        changes = self._changes.pop(gather.get_instance_id(), [])
        for change in changes:
            change.done.append(what)
            change.rounds_elsewhere |= rounds
            change.reason = ""
        self._changes.setdefault(now.get_instance_id(), []).extend(changes)

    def joined(self, earlier: Node, now: Node) -> None:
        """What was done to others made `earlier`, which `now` stands for, too, from here on."""
        others = self._changes.pop(earlier.get_instance_id(), [])
        self._changes.setdefault(now.get_instance_id(), [])[:0] = others

    def kept(self, gather: Node, reason: str) -> None:
        """Remember why a pass did nothing. The last pass that says something has its say."""
        if self.leaves(gather):
            return
        for change in self._changes.get(gather.get_instance_id(), []):
            earlier = change.reason.partition(";")[0]
            change.reason = f"{earlier}; {reason}" if earlier.startswith(STAYS) else reason

    def summary(self, model: Model) -> Summary:
        """Return all that was done, in the order of the model."""
        return Summary(tuple(change for _, node in walk(model) for change in self._changes.get(node.get_instance_id(), ())))


def _as_it_is(place: str, node: Node) -> Change:
    name, shapes = operation(node), f"{_shape(node, 0)} by {_shape(node, 1)}"
    if name.startswith(CUSTOM_OPSET):
        reason = "ours already"
    elif is_scatter(node):
        reason = "its indices repeat for no rows, and tell no block"
    else:
        reason = "OpenVINO's own is as fast" if name != "GatherElements-6" else ""
    return Change(place + node.get_friendly_name(), name, shapes, reason=reason)


def _shape(node: Node, port: int) -> str:
    return str(node.get_input_partial_shape(port))
