"""Table of kernel measurements: milliseconds of our kernel and extension, and the slowdown of their peers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ov_gather.bench.measure import Measurement, geometric_mean

# Peers called from Python are compared with our kernel, OpenVINO with our extension.
_PAIRS = (("torch", "kernel"), ("onnxruntime", "kernel"), ("numpy", "kernel"), ("openvino", "extension"))
_LARGE = 1_000_000


def render(measurements: Sequence[Measurement]) -> Table:
    """Return a table with one row per case, and the geometric means and worst cases after each group.

    The column "limit" is the time of the limit as a fraction of the kernel's time.
    """
    headers = [f"{peer} / {ours}" for peer, ours in _PAIRS]
    table = Table("case", "kernel ms", *headers[:-1], "limit", "extension ms", headers[-1])
    for group in dict.fromkeys(measurement.group for measurement in measurements):
        _add_group(table, [measurement for measurement in measurements if measurement.group == group])
    return table


def _add_group(table: Table, measurements: Sequence[Measurement]) -> None:
    for measurement in measurements:
        ratios = [_times(measurement.ratio(*pair)) for pair in _PAIRS]
        share = _share(measurement.ratio("limit"))
        kernel, extension = (_milliseconds(measurement, contender) for contender in ("kernel", "extension"))
        table.add_row(measurement.case, kernel, *ratios[:-1], share, extension, ratios[-1])
    table.add_section()
    large = [measurement for measurement in measurements if measurement.bytes >= _LARGE]
    for label, chosen in (("geometric mean", measurements), ("the same from 1 MB", large)):
        means = [_times(geometric_mean(_ratios(chosen, *pair))) for pair in _PAIRS]
        share = _share(geometric_mean(_ratios(chosen, "limit", "kernel")))
        table.add_row(label, "", *means[:-1], share, "", means[-1])
    worst = [_times(min(_ratios(measurements, *pair), default=None)) for pair in _PAIRS]
    lowest = _share(min(_ratios(measurements, "limit", "kernel"), default=None))
    table.add_row("worst case", "", *worst[:-1], lowest, "", worst[-1])
    table.add_section()


def _ratios(measurements: Sequence[Measurement], peer: str, ours: str) -> list[float]:
    ratios = (measurement.ratio(peer, ours) for measurement in measurements)
    return [ratio for ratio in ratios if ratio is not None]


def _milliseconds(measurement: Measurement, contender: str) -> str:
    return f"{measurement.seconds[contender] * 1e3:.3f}" if contender in measurement.seconds else "-"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None or ratio != ratio else f"{ratio:.2f}x"


def _share(ratio: float | None) -> str:
    return "-" if ratio is None or ratio != ratio else f"{ratio:.0%}"
