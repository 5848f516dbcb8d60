"""Two models beside each other as a table: which operations take how much of an inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from ov_gather.bench.model import ModelMeasurement

_LEAST = 0.005


def render(measured: ModelMeasurement) -> Table:
    """One row a type of operation that takes a part worth mentioning, before or after."""
    table = Table("operation", "before", "after")
    before, after = measured.shares
    for name in dict.fromkeys((*before, *after)):
        shares = before.get(name, 0.0), after.get(name, 0.0)
        if max(shares) >= _LEAST:
            table.add_row(name, *(f"{share:.1%}" for share in shares))
    return table
