"""Results of `diff`: single changes, and the differences of two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ov_gather.ir.location import Location
from ov_gather.system.tables import InNotebooks, cell, counted, joined

if TYPE_CHECKING:
    from rich.table import Table

_STYLE = {"removed": "red", "added": "green"}

Kind = Literal["removed", "added", "operation", "attribute", "input", "constant", "type", "shape"]
"""A layer of one model only, or the part of a layer that differs: type or version, an attribute, an input's producer, ..."""


@dataclass(frozen=True, slots=True)
class IRChange:
    """One difference between two models.

    Attributes:
        kind: what differs.
        a: the layer of the first model; None if it was added.
        b: the layer of the second model; None if it was removed.
        what: the attribute, input or output that differs; for a constant, also how its elements differ.
        before: the value in the first model.
        after: the value in the second model.
    """

    kind: Kind
    a: Location | None = None
    b: Location | None = None
    what: str = ""
    before: str = ""
    after: str = ""

    @property
    def layer(self) -> str:
        """The layer of the first model as a text for people; of the second model if the layer was added."""
        place = self.a or self.b
        return place.layer_text if place else ""

    def __str__(self) -> str:
        what = f"{self.kind} {self.what}".rstrip()
        if self.kind in ("added", "removed"):
            return f"{self.layer}: {what}"
        return f"{self.layer}: {what}: {self.before or 'none'} -> {self.after or 'none'}"


@dataclass(frozen=True, slots=True, repr=False)
class Differences(InNotebooks):
    """All differences of two models.

    Attributes:
        changes: what differs.
        consequences: differences of types and shapes at or downstream of a layer that differs.
        same: number of matched layers without a difference, Consts not counted.
    """

    changes: tuple[IRChange, ...]
    consequences: tuple[IRChange, ...]
    same: int

    @property
    def headline(self) -> str:
        """The number of differences and of equal layers, and the first difference."""
        first = f", first {self.changes[0]}" if self.changes else ""
        counts = f"{counted(len(self.changes), 'change')}, {counted(len(self.consequences), 'consequence')}"
        return f"{counts}, {counted(self.same, 'layer')} the same{first}"

    def table(self) -> Table:
        """Return a table for `rich.print`: one row a change."""
        return changes_table([[change] for change in self.changes])

    @property
    def passed(self) -> bool:
        """True if the models are equal except for ids, names and order."""
        return not self.changes and not self.consequences


def changes_table(groups: Sequence[Sequence[IRChange]]) -> Table:
    """Return a table for `rich.print`: one row for each group of changes of one kind."""
    from rich import box
    from rich.table import Column, Table

    names = ("layer", "change", "A", "B")
    table = Table(
        *(Column(name, overflow="fold") for name in names), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False
    )
    for group in groups:
        rows = [(change.layer, f"{change.kind} {change.what}".rstrip(), change.before, change.after) for change in group]
        table.add_row(*(cell(joined(texts)) for texts in zip(*rows, strict=True)), style=_STYLE.get(group[0].kind))
    return table
