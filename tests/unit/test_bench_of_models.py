"""The ratio of two models: that of their times, and 1 within the spread."""

import pytest

from ov_gather.bench.model import ModelMeasurement
from ov_gather.bench.spread import quartiles
from ov_gather.report.bench import model_summary


@pytest.mark.parametrize(
    ("ratios", "seconds", "shown"),
    [
        ([0.9, 1.13, 1.2], (0.067394, 0.064970), "1.04x (67.394 ms before, 64.970 ms after; quartiles of pairs 1.01 to 1.17)"),
        ([0.8, 0.9, 1.3], (0.0657, 0.0713), "1.00x (65.700 ms before, 71.300 ms after; quartiles of pairs 0.85 to 1.10)"),
        ([1.8, 2.0, 2.2], (0.04, 0.02), "2.00x (40.000 ms before, 20.000 ms after; quartiles of pairs 1.90 to 2.10)"),
    ],
)
def test_a_ratio_agrees_with_its_times(ratios, seconds, shown):
    measured = ModelMeasurement("f32", seconds, quartiles(ratios), ({}, {}), True, (0.0, 0.0))

    assert model_summary(measured).startswith(shown)
