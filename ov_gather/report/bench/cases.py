"""Measurements as a table: milliseconds of our kernel and of our extension, and how many times slower the others are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ov_gather.bench.measure import Measurement, geometric_mean

# Each peer with what of ours it is held against: from Python the kernel, inside OpenVINO the extension.
_PAIRS = (("torch", "kernel"), ("onnxruntime", "kernel"), ("numpy", "kernel"), ("openvino", "extension"))
_LARGE = 1_000_000


def render(measurements: Sequence[Measurement]) -> Table:
    """Group by group: one row a case, then geometric means and worst cases.

    "copy limit": the time of the copy as a share of the kernel's.
    """
    headers = [f"{peer} / {ours}" for peer, ours in _PAIRS]
    table = Table("case", "kernel ms", *headers[:-1], "copy limit", "extension ms", headers[-1])
    for group in dict.fromkeys(it.group for it in measurements):
        _add_group(table, [it for it in measurements if it.group == group])
    return table


def _add_group(table: Table, measurements: Sequence[Measurement]) -> None:
    for it in measurements:
        ratios = [_times(it.ratio(*pair)) for pair in _PAIRS]
        limit = it.ratio("copy")
        copy = "-" if limit is None else f"{limit:.0%}"
        table.add_row(it.case, _milliseconds(it, "kernel"), *ratios[:-1], copy, _milliseconds(it, "extension"), ratios[-1])
    table.add_section()
    large = [it for it in measurements if it.bytes >= _LARGE]
    for label, chosen in (("geometric mean", measurements), ("the same from 1 MB", large)):
        means = [_times(geometric_mean(_ratios(chosen, *pair))) for pair in _PAIRS]
        table.add_row(label, "", *means[:-1], "", "", means[-1])
    worst = [_times(min(_ratios(measurements, *pair), default=None)) for pair in _PAIRS]
    table.add_row("worst case", "", *worst[:-1], "", "", worst[-1])
    table.add_section()


def _ratios(measurements: Sequence[Measurement], peer: str, ours: str) -> list[float]:
    return [ratio for it in measurements if (ratio := it.ratio(peer, ours)) is not None]


def _milliseconds(measurement: Measurement, contender: str) -> str:
    return f"{measurement.seconds[contender] * 1e3:.3f}" if contender in measurement.seconds else "-"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None or ratio != ratio else f"{ratio:.2f}x"
