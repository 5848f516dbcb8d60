"""Comparison of two models: a table of time per operation type, and a one-line summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ov_gather.system.tables import cell

if TYPE_CHECKING:
    from ov_gather.bench.model import ModelMeasurement

_LEAST = 0.005


def render(measured: ModelMeasurement) -> Table:
    """Return a table with one row per operation type that takes at least 0.5% of the inference in either model."""
    table = Table("operation", "before", "after")
    before, after = measured.shares
    for name in dict.fromkeys((*before, *after)):
        shares = before.get(name, 0.0), after.get(name, 0.0)
        if max(shares) >= _LEAST:
            table.add_row(cell(name), *(f"{share:.1%}" for share in shares))
    return table


def summarize(measured: ModelMeasurement) -> str:
    """Return the speed-up of the second model, and how its outputs compare with those of the first."""
    first, second = (f"{seconds * 1e3:.3f} ms" for seconds in measured.seconds)
    return f"{measured.ratio:.2f}x ({first} before, {second} after), {_outputs(measured)}"


def _outputs(measured: ModelMeasurement) -> str:
    if measured.same:
        return "the same outputs"
    errors = f"error against f32 {measured.errors[0]:.3g} before, {measured.errors[1]:.3g} after"
    return f"{'worse' if measured.is_worse else 'other'} outputs ({errors})"
