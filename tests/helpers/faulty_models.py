"""Models that OpenVINO computes wrongly, or otherwise in each inference: the analysis of ranges is not to blame for them."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import opset16 as ops

from helpers.random_index_models import finished
from helpers.random_openvino import OpenvinoBuilder, Sample
from helpers.range_judge import ALONE


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


def _rows_of_the_inference_before(b: OpenvinoBuilder) -> None:
    """A Loop without an iteration gives out the rows that it has joined before."""
    line = b.parameter("i64", ["A"])
    state = ops.parameter([-1], np.int64)
    node = ops.loop(b.elements(line, "i64").handle, ops.constant(True).output(0))
    results = [ops.result(one) for one in (ops.constant(True), state, ops.unsqueeze(state, ops.constant(0)))]
    node.set_function(ov.Model(results, [state], "loop"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(state, line.handle, results[1].output(0))
    rows = b.known(node.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0))
    count = b.add("gather", b.make("shape_of", rows), b.constant(0, "i64"), b.constant(0, "i64"))
    b.offer(b.make("add", count, b.constant(1, "i64")))
    # In bounds for none only: what is observed together with it is then in a model that is executed first.
    b.add("gather_elements", b.parameter("i64", [1]), b.parameter("i64", ["A"]), 0)


def _quotient_of_constants(b: OpenvinoBuilder) -> None:
    """The quotient of -1 and 3 is -1 where OpenVINO folds it, as for the size of a Range, else 0."""
    column = b.make("unsqueeze", b.parameter("i32", ["A"]), b.longs(-1))
    columns = b.size_of(b.make("concat", [column] * 3, -1), 1, "i32")
    quotient = b.make("divide", b.make("subtract", columns, b.constant(4, "i32")), b.constant(3, "i32"))
    number = b.make("add", quotient, b.constant(1, "i32"))
    b.add("gather", b.parameter("f32", [9]), number, b.constant(0, "i64"))
    b.add("range", b.constant(0, "i32"), number, b.constant(1, "i32"), "i32")


MODELS = (
    *(_top_of_too_few, _negative_part, _negative_part_of_what_is_found, _nothing_left, _random_numbers),
    *(_rows_of_the_inference_before, _quotient_of_constants),
)


def faulty(seed: int) -> Sample:
    """Return the model of a seed; each `ALONE`-th has one, so that some tensors are observed alone, too."""
    b, make = OpenvinoBuilder(np.random.default_rng(0), {"A": (0, 9), "B": (1, 9)}), MODELS[seed // ALONE]
    make(b)
    return finished(b, make.__name__)
