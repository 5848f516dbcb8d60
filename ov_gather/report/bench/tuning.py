"""Table of the gain of each kind of change that tuning tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ov_gather.system.tables import cell

if TYPE_CHECKING:
    from ov_gather.bench.tuning import Tuning


def render(tuning: Tuning) -> Table:
    """Return a table with one row per kind of change."""
    table = Table("sites", "operation", "data, indices", "change", "gain", "kept")
    for trial in tuning.trials:
        sites = trial.layers[0] + (f" and {len(trial.layers) - 1} more" if len(trial.layers) > 1 else "")
        gain, kept = f"{trial.ratio:.3f}x", "yes" if trial.is_kept else "no"
        table.add_row(cell(sites), cell(trial.operation), cell(trial.shapes), cell(*trial.done), gain, kept)
    return table
