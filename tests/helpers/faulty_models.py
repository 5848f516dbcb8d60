"""Models that OpenVINO computes wrongly, or otherwise in each inference: the analysis of ranges is not to blame for them."""

from __future__ import annotations

import numpy as np

from helpers.random_index_models import finished
from helpers.random_openvino import OpenvinoBuilder, Sample


def _top_of_too_few(b: OpenvinoBuilder) -> None:
    """A TopK of more than there are gives out other memory in each inference."""
    line = b.parameter("f32", ["A"])
    values, places = b.outputs("topk", line, b.constant(3, "i64"), 0, "max", "value", "i64", dims=())
    b.add("gather", line, places, b.constant(0, "i64"))
    b.add("gather", values, b.parameter("i64", [2]), b.constant(0, "i64"))


def _negative_part(b: OpenvinoBuilder) -> None:
    """A part of a VariadicSplit has a negative size."""
    line = b.parameter("i64", ["A"])
    parts = b.outputs("variadic_split", line, b.constant(0, "i64"), b.longs(5, -1), dims=())
    b.add("gather", line, parts[1], b.constant(0, "i64"))


def _negative_part_of_what_is_found(b: OpenvinoBuilder) -> None:
    """The same where only the inference tells the size."""
    found = b.make("squeeze", b.make("non_zero", b.parameter("i64", ["A"])), b.longs(0))
    both = b.make("concat", b.outputs("variadic_split", found, b.constant(0, "i64"), b.longs(1, -1), dims=()), 0)
    b.add("gather", b.parameter("f32", [9]), b.make("shape_of", both), b.constant(0, "i64"))


def _nothing_left(b: OpenvinoBuilder) -> None:
    """The shape of a tensor without elements is wrong behind a VariadicSplit."""
    rows = b.parameter("i64", ["B", 3])
    nothing = b.outputs("variadic_split", rows, b.constant(1, "i64"), b.longs(0, -1))[0]
    stacked = b.make("concat", [b.make("unsqueeze", nothing, b.longs(-1))] * 2, -1)
    b.offer(b.make("greater", stacked, b.constant(0, "i64")))
    b.add("gather", rows, stacked, b.constant(0, "i64"))


def _random_numbers(b: OpenvinoBuilder) -> None:
    """RandomUniform goes on with other numbers, as it should, so that another inference finds more or fewer of them."""
    drawn = b.make("random_uniform", b.longs(6), b.constant(0, "i64"), b.constant(4, "i64"), "i64", 3, 5)
    found = b.outputs("unique", drawn, None, True, "i64", "i64", dims=())
    b.add("gather", found[0], b.longs(0, -1), b.constant(0, "i64"))
    b.offer(found[2])


MODELS = (_top_of_too_few, _negative_part, _negative_part_of_what_is_found, _nothing_left, _random_numbers)


def faulty(number: int) -> Sample:
    b = OpenvinoBuilder(np.random.default_rng(0), {"A": (0, 9), "B": (1, 9)})
    MODELS[number](b)
    return finished(b, MODELS[number].__name__)
