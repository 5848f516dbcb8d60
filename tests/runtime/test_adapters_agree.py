"""An IR tells less of shapes than a model in memory, and `prove` finds out the same of both."""

import numpy as np
import pytest

from helpers.random_index_models import finished, sample
from helpers.random_openvino import OpenvinoBuilder
from helpers.range_analysis import by_ir, by_openvino
from helpers.seeds import seeds


def statuses(model):
    (_, in_ir), (_, in_memory) = by_ir(model), by_openvino(model)
    assert {name: verdict.status for name, verdict in in_ir.items()} == {
        name: verdict.status for name, verdict in in_memory.items()
    }
    return [verdict.status for verdict in in_ir.values()]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", seeds(20))
def test_both_adapters_say_the_same_of_each_site(seed):
    statuses(sample(seed).model)


def shortest(b, line):
    size = b.make("minimum", b.size_of(line, 0, "i64"), b.constant(4, "i64"))
    return b.make("topk", line, size, 0, "min", "index", "i64", dims=())


BOUNDED = {
    "Reshape": (16, lambda b, line: b.make("reshape", b.parameter("f32", ["A", 4]), b.longs(-1), False, dims=())),
    "TopK": (4, shortest),
    "Unique": (5, lambda b, line: b.make("unique", b.parameter("i64", [5]), None, True, "i64", "i64", dims=())),
    "Concat": (12, lambda b, line: b.make("concat", [line] * 3, 0, dims=())),
    "StridedSlice": (
        1,
        lambda b, line: b.make("strided_slice", line, b.longs(0), b.longs(1), b.longs(1), [0], [0], [], [], [], dims=()),
    ),
    "VariadicSplit": (
        4,
        lambda b, line: b.make("variadic_split", b.parameter("f32", ["A", 3]), b.constant(1, "i64"), b.longs(1, -1)),
    ),
    "Tile": (8, lambda b, line: b.make("tile", line, b.longs(2), dims=())),
    "Broadcast": (
        4,
        lambda b, line: b.make("broadcast", b.parameter("f32", [1]), b.make("shape_of", line, "i64"), None, "NUMPY", dims=()),
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_of_inner_dimensions(name):
    """Bounds of inner dimensions, which an IR does not hold, follow from rules for shapes."""
    b = OpenvinoBuilder(np.random.default_rng(0), {"A": (1, 4)})
    largest, make = BOUNDED[name]
    size = b.size_of(make(b, b.parameter("f32", ["A"])), 0, "i64")
    b.add("gather", b.parameter("f32", [largest + 1]), size, b.constant(0, "i64"))
    assert statuses(finished(b, name).model)[-1] == "proved"
