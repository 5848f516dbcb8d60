"""Tables of what a conversion rewrote, and of what OpenVINO will not execute as ONNX says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table

from ov_gather.tables import cell

if TYPE_CHECKING:
    from ov_gather.converters.inexactness import Inexactness
    from ov_gather.converters.legalize import Rewrite


def rewrites_table(rewrites: Sequence[Rewrite]) -> Table:
    """Return one row for each kind of rewrite, done or left, with the nodes."""
    told = [(rewrite.what if rewrite.done else f"left: {rewrite.what}", rewrite.node) for rewrite in rewrites]
    return _table("rewritten", told)


def inexactness_table(found: Sequence[Inexactness], original: str) -> Table:
    """Return one row for each kind of inexactness, with its places; `original` is whose meaning is not kept."""
    return _table(f"not as {original} says", [(each.what, each.place) for each in found])


def _table(title: str, told: Sequence[tuple[str, str]]) -> Table:
    """Make a table of each thing that there is to tell, with all places of which it is told."""
    places: dict[str, list[str]] = {}
    for what, place in told:
        places.setdefault(what, []).append(place)
    columns = (Column(name, max_width=width, overflow="fold") for name, width in ((title, 40), ("where", 53)))
    table = Table(*columns, show_lines=True)  # of 100 characters at most
    for what, those in places.items():
        table.add_row(cell(what), cell(*those))
    return table
