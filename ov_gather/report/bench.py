"""Measurements as a table: milliseconds of our kernel, and how many times slower the others are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ov_gather.bench.contenders import CONTENDERS
from ov_gather.bench.measure import Measurement, geometric_mean, ratios

_PEERS = [name for name in CONTENDERS if name not in ("kernel", "copy")]


def render(measurements: Sequence[Measurement]) -> Table:
    """One row a case, then geometric means and worst cases. "copy limit": the time of the copy as a share of the kernel's."""
    table = Table("case", "kernel ms", *(f"{name} / kernel" for name in _PEERS), "copy limit")
    for it in measurements:
        cells = [_times(it.ratio(name)) for name in _PEERS]
        limit = it.ratio("copy")
        table.add_row(it.case, f"{it.seconds['kernel'] * 1e3:.3f}", *cells, "" if limit is None else f"{limit:.0%}")
    table.add_section()
    table.add_row("geometric mean", "", *(_times(geometric_mean(ratios(measurements, name))) for name in _PEERS), "")
    table.add_row("worst case", "", *(_times(min(ratios(measurements, name), default=None)) for name in _PEERS), "")
    return table


def _times(ratio: float | None) -> str:
    return "-" if ratio is None or ratio != ratio else f"{ratio:.2f}x"
