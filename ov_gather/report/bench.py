"""Reports of `ov-gather bench` and `accelerate --tune`: tables of measurements, and a summary line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from ov_gather.bench.measure import Measurement, geometric_mean
from ov_gather.system.tables import cell

if TYPE_CHECKING:
    from ov_gather.bench.model import ModelMeasurement
    from ov_gather.bench.tuning import Tuning

# Peers called from Python are compared with our kernel, OpenVINO with our extension.
_PAIRS = (("torch", "kernel"), ("onnxruntime", "kernel"), ("numpy", "kernel"), ("openvino", "extension"))
_LARGE = 1_000_000
_LEAST = 0.005


def cases_table(measurements: Sequence[Measurement]) -> Table:
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


def model_table(measured: ModelMeasurement) -> Table:
    """Return a table with one row per operation type that takes at least 0.5% of the inference in either model."""
    table = Table("operation", "before", "after")
    before, after = measured.shares
    for name in dict.fromkeys((*before, *after)):
        shares = before.get(name, 0.0), after.get(name, 0.0)
        if max(shares) >= _LEAST:
            table.add_row(cell(name), *(f"{share:.1%}" for share in shares))
    return table


def model_summary(measured: ModelMeasurement) -> str:
    """Return the speed-up of the second model, and how its outputs compare with those of the first."""
    first, second = (f"{seconds * 1e3:.3f} ms" for seconds in measured.seconds)
    return f"{measured.ratio:.2f}x ({first} before, {second} after), {_outputs(measured)}"


def _outputs(measured: ModelMeasurement) -> str:
    if measured.same:
        return "the same outputs"
    errors = f"error against f32 {measured.errors[0]:.3g} before, {measured.errors[1]:.3g} after"
    return f"{'worse' if measured.is_worse else 'other'} outputs ({errors})"


def tuning_table(tuning: Tuning) -> Table:
    """Return a table with one row per kind of change."""
    table = Table("sites", "operation", "data, indices", "change", "gain", "kept")
    for trial in tuning.trials:
        sites = trial.layers[0] + (f" and {len(trial.layers) - 1} more" if len(trial.layers) > 1 else "")
        gain, kept = f"{trial.ratio:.3f}x", "yes" if trial.is_kept else "no"
        table.add_row(cell(sites), cell(trial.operation), cell(trial.shapes), cell(*trial.done), gain, kept)
    return table
