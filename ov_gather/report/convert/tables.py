"""Tables of the rewrites and the inexactness of a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table

from ov_gather.system.tables import cell

if TYPE_CHECKING:
    from ov_gather.converters.inexactness import Inexactness
    from ov_gather.converters.legalize import Rewrite


def rewrites_table(rewrites: Sequence[Rewrite]) -> Table:
    """Return a table with one row per kind of rewrite, done or left, and its nodes."""
    told = [(rewrite.what if rewrite.done else f"left: {rewrite.what}", rewrite.node) for rewrite in rewrites]
    return _table("rewritten", told)


def inexactness_table(found: Sequence[Inexactness], original: str) -> Table:
    """Return a table with one row per kind of inexactness, and its places; `original` names the source format."""
    return _table(f"not as {original} says", [(each.what, each.place) for each in found])


def _table(title: str, told: Sequence[tuple[str, str]]) -> Table:
    """Group messages and list the places of each."""
    places: dict[str, list[str]] = {}
    for what, place in told:
        places.setdefault(what, []).append(place)
    columns = (Column(name, max_width=width, overflow="fold") for name, width in ((title, 40), ("where", 53)))
    table = Table(*columns, show_lines=True)  # at most 100 characters wide
    for what, those in places.items():
        table.add_row(cell(what), cell(*those))
    return table
