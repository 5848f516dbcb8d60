"""The sweep: which layers it makes up, and that nothing in them is unexplained."""

from itertools import islice

import pytest

from helpers.seeds import seed_of
from ov_gather.crosscheck.defaults import DEFAULT_SEED
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.sweep import layers, sweep

pytestmark = pytest.mark.onnxruntime


def test_the_same_for_one_seed():
    assert list(islice(layers(3), 50)) == list(islice(layers(3), 50))
    assert list(islice(layers(3), 50)) != list(islice(layers(4), 50))


@pytest.mark.exhaustive
def test_a_bounded_sweep():
    progress = Progress()
    result = sweep(("kernel", "openvino", "extension", "onnxruntime"), seed=seed_of(DEFAULT_SEED), cases=600, progress=progress)
    assert [layer for layer in result.layers if not layer.passed] == []
    assert sum(len(layer.cases) for layer in result.layers) == progress.done == 600
    assert not any(layer.executed_as for layer in result.layers)  # each has cases of its own
    assert set(result.environment.versions) == {"kernel", "openvino", "extension", "onnxruntime"}
    assert not {name for layer in result.layers for comparison in layer.comparisons for name in comparison.stale}


def test_a_sweep_of_our_kernel_alone():
    result = sweep(("kernel",), cases=40)
    assert result.passed
    assert sum(len(layer.cases) for layer in result.layers) == 40
