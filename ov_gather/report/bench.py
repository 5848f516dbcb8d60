"""Reports of `ov-gather bench` and `accelerate --tune`: tables of measurements, and a summary line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.table import Table

from ov_gather.bench.measure import Runs
from ov_gather.bench.spread import Spread, extent, geometric_mean
from ov_gather.system.tables import cell, new_table

if TYPE_CHECKING:
    from ov_gather.bench.model import ModelMeasurement
    from ov_gather.bench.tuning import Tuning

# Peers called from Python are compared with our kernel, OpenVINO with our extension.
_COLUMNS = {
    "torch": ("torch", "kernel"),
    "torch.\ncompile": ("torch_compile", "kernel"),
    "jax.jit": ("jax", "kernel"),
    "jax.jit\nunchecked": ("jax_unchecked", "kernel"),
    "onnxruntime": ("onnxruntime", "kernel"),
    "numpy": ("numpy", "kernel"),
    "openvino": ("openvino", "extension"),
    "limit": ("limit", "kernel"),
    "loads": ("loads", "kernel"),
    "latency": ("latency", "kernel"),
}
_LARGE = 1_000_000
_LEAST = 0.005


def cases_table(cases: Sequence[Runs]) -> Table:
    """Return a table with one row per case, and the geometric means and worst cases after each group.

    The cells are ratios of times, each with its relative deviation. Contenders that took part in no case have no column.
    """
    columns = {header: pair for header, pair in _COLUMNS.items() if any(case.ratio(*pair) for case in cases)}
    table = Table("case", "kernel ms", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for header in columns:
        table.add_column(header)
    for group in dict.fromkeys(case.first.group for case in cases):
        _add_group(table, [case for case in cases if case.first.group == group], list(columns.values()))
    return table


def _add_group(table: Table, cases: Sequence[Runs], pairs: Sequence[tuple[str, str]]) -> None:
    for case in cases:
        table.add_row(case.first.case, f"{case.seconds['kernel'] * 1e3:.3g}", *(_ratio(case.ratio(*pair)) for pair in pairs))
    table.add_section()
    large = [case for case in cases if case.first.bytes >= _LARGE]
    table.add_row("geometric mean", "", *(_ratio(_mean(cases, *pair)) for pair in pairs))
    table.add_row("the same from 1 MB", "", *(_ratio(_mean(large, *pair)) for pair in pairs))
    table.add_row("worst case", "", *(_ratio(_worst(cases, *pair)) for pair in pairs))
    table.add_section()


def _mean(cases: Sequence[Runs], peer: str, ours: str) -> Spread | None:
    """Return the geometric mean over cases, for each run."""
    runs = zip(*(case.runs for case in cases), strict=True)
    ratios = [[ratio.median for case in run if (ratio := case.ratio(peer, ours))] for run in runs]
    means = [geometric_mean(of_run) for of_run in ratios if of_run]
    return extent(means) if means else None


def _worst(cases: Sequence[Runs], peer: str, ours: str) -> Spread | None:
    found = [ratio for case in cases if (ratio := case.ratio(peer, ours))]
    return min(found, key=lambda ratio: ratio.median, default=None)


def _ratio(ratio: Spread | None) -> str:
    if ratio is None:
        return "-"
    digits = 2 if ratio.median < 10 else 1 if ratio.median < 100 else 0
    return f"{ratio.median:.{digits}f}" + (f" ±{ratio.deviation:.0%}" if ratio.low < ratio.high else "")


def model_table(measured: ModelMeasurement) -> Table:
    """Return a table with one row per operation type that takes at least 0.5% of the inference in either model."""
    table = new_table("operation", "before", "after")
    before, after = measured.shares
    for name in dict.fromkeys((*before, *after)):
        shares = before.get(name, 0.0), after.get(name, 0.0)
        if max(shares) >= _LEAST:
            table.add_row(cell(name), *(f"{share:.1%}" for share in shares))
    return table


def model_summary(measured: ModelMeasurement) -> str:
    """Return the speed-up of the second model, and how its outputs compare with those of the first."""
    first, second = (f"{seconds * 1e3:.3f} ms" for seconds in measured.seconds)
    spread = f"quartiles of pairs {measured.spread.low:.2f} to {measured.spread.high:.2f}"
    return f"{measured.ratio:.2f}x ({first} before, {second} after; {spread}), {_outputs(measured)}"


def _outputs(measured: ModelMeasurement) -> str:
    if measured.same:
        return "the same outputs"
    errors = f"error against f32 {measured.errors[0]:.3g} before, {measured.errors[1]:.3g} after"
    return f"{'worse' if measured.is_worse else 'other'} outputs ({errors})"


def tuning_table(tuning: Tuning) -> Table:
    """Return a table with one row per kind of change."""
    table = new_table("sites", "operation", "data, indices", "change", "gain", "kept")
    for trial in tuning.trials:
        sites = trial.layers[0] + (f" and {len(trial.layers) - 1} more" if len(trial.layers) > 1 else "")
        gain, kept = f"{trial.ratio:.3f}x", "yes" if trial.is_kept else "no"
        table.add_row(cell(sites), cell(trial.operation), cell(trial.shapes), cell(*trial.done), gain, kept)
    return table
