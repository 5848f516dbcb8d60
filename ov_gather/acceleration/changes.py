"""Record of the changes to each gather and scatter of a model, and of the reasons for making none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ov_gather.acceleration.costs import USUAL, is_heavy, why_too_small
from ov_gather.acceleration.divergent import added_divergence
from ov_gather.acceleration.graph import (
    FOLDED_AT_COMPILE,
    attributes_of_ours,
    is_constant_foldable,
    is_gather,
    is_ours,
    is_scatter,
    operation,
    ours,
    replace_node,
    walk,
)
from ov_gather.acceleration.quantised import is_low_precision
from ov_gather.acceleration.rounding import rounds_elsewhere
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.system.tables import FEW, InNotebooks, as_text, briefly, table_of

if TYPE_CHECKING:
    from rich.table import Table


ROUNDS_ELSEWHERE = "rounds elsewhere in bf16/f16"
_COLUMNS = ("layer", "operation", "data, indices", "changed", "why no more")


@dataclass(slots=True)
class Change:
    """A gather or scatter, the rewrites applied to it, and the reason why no more were.

    `layer` begins with the names of the layers around it. `rounds_elsewhere`: bf16 and f16 results may differ in the last bits.
    `lasting_reason` begins the `reason`, whatever later passes add. `corrects`: OpenVINO would misread the original.
    """

    layer: str
    operation: str
    shapes: str
    done: list[str] = field(default_factory=list)
    reason: str = ""
    rounds_elsewhere: bool = False
    lasting_reason: str = ""
    corrects: bool = False

    @property
    def steps(self) -> list[str]:
        """The applied rewrites as text, with a note if results may round differently."""
        return [*self.done, *([ROUNDS_ELSEWHERE] if self.rounds_elsewhere else [])]

    @property
    def row(self) -> tuple[str, str, str, str | tuple[str, ...], str]:
        """The cells of its row in a table."""
        return self.layer, self.operation, self.shapes, tuple(self.steps) or "no", self.reason


@dataclass(frozen=True, slots=True, repr=False)
class Summary(InNotebooks):
    """The changes to all gathers and scatters of an accelerated model. `str` formats them as a table."""

    changes: tuple[Change, ...]

    @property
    def changed(self) -> tuple[Change, ...]:
        """The gathers and scatters that were rewritten."""
        return tuple(change for change in self.changes if change.done)

    @property
    def headline(self) -> str:
        """The number of gathers and scatters that were rewritten."""
        return f"{len(self.changed)} of {len(self.changes)} gathers and scatters changed"

    def table(self) -> Table:
        """Return a table with one row per gather or scatter, for `rich.print`."""
        return table_of(_COLUMNS, [change.row for change in self.changes])

    def briefly(self) -> Iterator[Table | str]:
        """Yield a table; of more than FEW changes, merge alike ones, and count what was not changed by reason."""
        if len(self.changes) <= FEW:
            yield self.table() if self.changes else str(self)
            return
        listed = (change.row for change in self.changes if change.steps)
        yield from briefly(_COLUMNS, listed, (change.reason for change in self.changes if not change.steps))

    def __str__(self) -> str:
        return as_text(self.table()) if self.changes else "no gathers or scatters: the model is unchanged"


def why_not_ours(gather: Node, result: Node, *, open_size: int = 0) -> str:
    """Return the reason why our operation should not replace `gather` and compute `result`; empty if it should.

    `open_size` is as in `too_small`.
    """
    if is_constant_foldable(gather.input_values()):
        return FOLDED_AT_COMPILE
    data = gather.input_value(0)
    if data.get_node().get_type_name() == "Slice" and is_low_precision(data):
        return "OpenVINO removes the Slice before it, but would compute that in 8 bits before ours"
    kind = data.get_element_type()
    if kind.bitwidth % 8:
        return f"ours takes no {kind.get_type_name()}"
    return why_too_small(result.output(0), open_size=open_size)


class Tracker:
    """The changes so far, keyed by the node that computes a gather's result now. Nodes of other models are ignored.

    `open_size`, as in `too_small`, is for rewrites to ours after which nothing else goes away.
    """

    def __init__(self, model: Model, leave: Collection[str] = ()) -> None:
        """Start with all gathers and scatters of a model; those named in `leave` stay unchanged."""
        self.open_size = USUAL if is_heavy(model) else 0
        self._changes: dict[int, list[Change]] = {}
        self._left: set[int] = set()
        for place, node in walk(model):
            if is_gather(node) or is_scatter(node):
                change = _as_it_is(place, node)
                self._changes[node.get_instance_id()] = [change]
                if change.layer in leave:
                    self._left.add(node.get_instance_id())
                    change.reason = "it was to stay as it is"

    def leaves(self, node: Node) -> bool:
        """Return True if the user asked to leave a gather or scatter unchanged."""
        return node.get_instance_id() in self._left

    def replace_by_ours(self, gather: Node, indices: Output, *, broadcast: bool) -> None:
        """Replace `gather` by our GatherElements if that is possible and faster; else record the reason."""
        if reason := why_not_ours(gather, gather, open_size=USUAL if broadcast else self.open_size):
            self.kept(gather, reason)
            return
        attributes = attributes_of_ours(gather, broadcast=broadcast)
        self.replace(gather, ours("GatherElements", [gather.input_value(0), indices], attributes))

    def replace(self, gather: Node, other: Node, *, rounds: bool | None = None) -> None:
        """Replace `gather` by `other`, unless it adds a divergence or has a less precise shape. `rounds` is as in `done`."""
        before, after = gather.get_output_partial_shape(0), other.get_output_partial_shape(0)
        if before != after:
            self.kept(gather, f"of its output shape {before} only {after} would be known")
            return
        if reason := added_divergence(other, gather):
            self.kept(gather, reason)
            return
        replace_node(gather, other)
        self.done(gather, f"{operation(other)} by {_shape(other, 1)}", other, rounds=rounds)

    def done(self, gather: Node, what: str, now: Node, *, rounds: bool | None = None, corrects: bool = False) -> None:
        """Record a rewrite of `gather` to `now`, which several gathers may share.

        `rounds` overrides whether bf16 and f16 results may differ in the last bits; by default that is derived from `now`.
        `corrects`: OpenVINO would misread the original, so the rewrite is not a matter of speed.
        """
        rounds = rounds_elsewhere(now) if rounds is None else rounds
        changes = self._changes.pop(gather.get_instance_id(), [])
        for change in changes:
            change.done.append(what)
            change.rounds_elsewhere |= rounds
            change.corrects |= corrects
            change.reason = change.lasting_reason = ""
        self._changes.setdefault(now.get_instance_id(), []).extend(changes)

    def joined(self, earlier: Node, now: Node) -> None:
        """Move the changes recorded for `earlier` to `now`, which computes its result, too."""
        others = self._changes.pop(earlier.get_instance_id(), [])
        self._changes.setdefault(now.get_instance_id(), [])[:0] = others

    def kept(self, gather: Node, reason: str, *, lasts: bool = False) -> None:
        """Record the reason why a pass left a gather unchanged. It replaces an earlier one, unless the first of all `lasts`."""
        if self.leaves(gather):
            return
        for change in self._changes.get(gather.get_instance_id(), []):
            change.reason = "; ".join(filter(None, (change.lasting_reason, reason)))
            if lasts and not change.lasting_reason:
                change.lasting_reason = reason

    def summary(self, model: Model) -> Summary:
        """Return the changes in topological order of the model."""
        return Summary(tuple(change for _, node in walk(model) for change in self._changes.get(node.get_instance_id(), ())))


def _as_it_is(place: str, node: Node) -> Change:
    name, shapes = operation(node), f"{_shape(node, 0)} by {_shape(node, 1)}"
    if is_ours(node):
        reason = "ours already"
    elif is_scatter(node):
        reason = "its indices neither repeat for whole rows nor address a contiguous block"
    else:
        reason = "OpenVINO's own is as fast" if name != "GatherElements-6" else ""
    return Change(place + node.get_friendly_name(), name, shapes, reason=reason)


def _shape(node: Node, port: int) -> str:
    return str(node.get_input_partial_shape(port))
