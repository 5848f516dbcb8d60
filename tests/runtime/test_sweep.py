"""The sweep: which layers it makes up, and that nothing in them is unexplained."""

from itertools import islice

import pytest

from ov_gather.crosscheck.cases.swept import layers
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.sweep import sweep
from ov_gather.ops import OPERATIONS
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers

pytestmark = [pytest.mark.onnxruntime, pytest.mark.slow]


def views(count, seed=1):
    return [view for model in islice(layers(seed), count) for view in family_layers(model)]


def test_layers_of_every_operation_in_turn():
    assert [view.operation for view in views(len(OPERATIONS) * 3)] == [*OPERATIONS] * 3


def test_every_rank_and_many_types_are_there_and_every_layer_is_valid():
    found = views(2000)
    assert {view.input_shapes[0].rank for view in found} == set(range(1, 7))
    assert len({view.input_types[0] for view in found}) > 20
    assert {isolate(view).layers[-1].type for view in found} == {"Result"}
    assert any(view.constant(0) is not None for view in found)
    assert any(view.constant(1) is not None for view in found)
    assert any(not view.input_shapes[0].is_static for view in found)


def test_the_same_for_one_seed():
    assert list(islice(layers(3), 50)) == list(islice(layers(3), 50))
    assert list(islice(layers(3), 50)) != list(islice(layers(4), 50))


def test_a_bounded_sweep():
    progress = Progress()
    result = sweep(("kernel", "openvino", "extension", "onnxruntime"), cases=600, progress=progress)
    assert [layer for layer in result.layers if not layer.passed] == []
    assert sum(len(layer.cases) for layer in result.layers) == progress.done == 600
    assert not any(layer.executed_as for layer in result.layers)  # each has cases of its own
    assert set(result.environment.versions) == {"kernel", "openvino", "extension", "onnxruntime"}
    assert not {name for layer in result.layers for comparison in layer.comparisons for name in comparison.stale}
