"""Small models of If, Loop, TensorIterator, states and recurrent sequences, as OpenVINO writes them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from helpers.accelerating import variable
from helpers.openvino_models import made_of, named, number
from helpers.paths import VALID

F32 = np.float32


def _body(results: list[ov.Node], parameters: list[ov.Node]) -> ov.Model:
    return ov.Model([ops.result(node) for node in results], parameters, "body")


def counted_loop() -> ov.Model:
    """A Loop with everything that a port map can say: slices, a state, an invariant, the iteration, a computed condition."""

    def loop(trips: ov.Node, go: ov.Node, rows: ov.Node, first: ov.Node, scale: ov.Node) -> list[ov.Output]:
        row, state, factor, i = named("row", "f32[1,3]"), named("state", "f32[1,3]"), named("f", "f32[3]"), named("i", "i64[]")
        after = ops.add(state, ops.multiply(row, factor))
        node = ops.loop(trips.output(0), go.output(0))
        results = [ops.less(i, number(2)), after, ops.multiply(after, ops.convert(i, "f32"))]
        node.set_function(_body(results, [row, state, factor, i]))
        node.set_special_body_ports([3, 0])
        node.set_sliced_input(row, rows.output(0), 0, 1, 1, -1, 0)
        node.set_merged_input(state, first.output(0), node.get_function().results[1].output(0))
        node.set_invariant_input(factor, scale.output(0))
        last = node.get_iter_value(node.get_function().results[1].output(0), -1)
        return [last, node.get_concatenated_slices(node.get_function().results[2].output(0), 0, 1, 1, -1, 0)]

    return made_of(loop, trips="i64[]", go="boolean[]", rows="f32[3,3]", first="f32[1,3]", scale="f32[3]")


def backward_iterator() -> ov.Model:
    """A TensorIterator from the end of the last axis, by slices of two, with a state; the slices and the state come out."""

    def iterate(data: ov.Node, first: ov.Node) -> list[ov.Output]:
        part, state = named("part", "f32[2,2]"), named("state", "f32[2,2]")
        after = ops.add(part, state)
        node = ops.tensor_iterator()
        node.set_body(_body([after, ops.multiply(part, state)], [part, state]))
        node.set_sliced_input(part, data.output(0), -1, -2, 2, 0, 1)
        node.set_merged_input(state, first.output(0), node.get_body().results[0].output(0))
        every = node.get_concatenated_slices(node.get_body().results[1].output(0), -1, -2, 2, 0, 1)
        return [every, node.get_iter_value(node.get_body().results[0].output(0), -1)]

    return made_of(iterate, data="f32[2,6]", first="f32[2,2]")


def iterator_of_cells() -> ov.Model:
    """A TensorIterator over the steps of an LSTMCell, as exporters write recurrent networks."""

    def iterate(data: ov.Node, first: ov.Node, memory: ov.Node) -> list[ov.Output]:
        step, hidden, cell = named("step", "f32[2,1,3]"), named("hidden", "f32[2,4]"), named("cell", "f32[2,4]")
        weights = (number(np.ones(shape), F32) for shape in ((16, 3), (16, 4), (16,)))
        lstm = ops.lstm_cell(ops.squeeze(step, number([1])), hidden, cell, *weights, 4)
        node = ops.tensor_iterator()
        results = [ops.unsqueeze(lstm.output(0), number([1])), lstm.output(0), lstm.output(1)]
        node.set_body(_body(results, [step, hidden, cell]))
        inner = node.get_body().results
        node.set_sliced_input(step, data.output(0), 0, 1, 1, -1, 1)
        node.set_merged_input(hidden, first.output(0), inner[1].output(0))
        node.set_merged_input(cell, memory.output(0), inner[2].output(0))
        every = node.get_concatenated_slices(inner[0].output(0), 0, 1, 1, -1, 1)
        return [every, node.get_iter_value(inner[2].output(0), -1)]

    return made_of(iterate, data="f32[2,5,3]", first="f32[2,4]", memory="f32[2,4]")


def branch_in_loop() -> ov.Model:
    """A Loop whose body chooses between two branches of two outputs each."""

    def loop(trips: ov.Node, first: ov.Node) -> ov.Output:
        state, i = named("state", "f32[2,3]"), named("i", "i64[]")
        one, two = named("one", "f32[2,3]"), named("two", "f32[2,3]")
        branch = ops.if_op(ops.less(i, number(1)).output(0))
        branch.set_then_body(_body([ops.add(one, number(1, F32)), ops.relu(one)], [one]))
        branch.set_else_body(_body([ops.multiply(two, number(2, F32)), ops.negative(two)], [two]))
        branch.set_input(state.output(0), one, two)
        then, other = branch.get_then_body().results, branch.get_else_body().results
        chosen = [branch.set_output(*pair) for pair in zip(then, other, strict=True)]
        node = ops.loop(trips.output(0), ops.constant(True).output(0))
        node.set_function(_body([ops.constant(True), ops.add(chosen[0], chosen[1])], [state, i]))
        node.set_special_body_ports([1, 0])
        node.set_merged_input(state, first.output(0), node.get_function().results[1].output(0))
        return node.get_iter_value(node.get_function().results[1].output(0), -1)

    return made_of(loop, trips="i64[]", first="f32[2,3]")


def states() -> ov.Model:
    """Two states: one with an initial value, one without."""
    x = named("x", "f32[2,3]")
    one, two = variable("one", [2, 3]), variable("two", [2, 3])
    sum_one = ops.add(x, ops.read_value(number(np.ones((2, 3)), F32), one))
    sum_two = ops.multiply(sum_one, ops.read_value(two))
    sinks = [ops.assign(sum_one, one), ops.assign(sum_two, two)]
    return ov.Model([ops.result(sum_two)], sinks, [x], "states")


def sequences() -> ov.Model:
    """An LSTMSequence, a GRUSequence and an RNNSequence, one behind the other."""

    def run(x: ov.Node) -> list[ov.Output]:
        def ones(*shape: int) -> ov.Node:
            return number(np.ones(shape) / 8, F32)

        lengths = number([5, 4], np.int32)
        lstm = ops.lstm_sequence(
            x, ones(2, 2, 4), ones(2, 2, 4), lengths, ones(2, 16, 3), ones(2, 16, 4), ones(2, 16), 4, "bidirectional"
        )
        steps = ops.squeeze(ops.gather(lstm.output(0), number([0]), number(1)), number([1]))
        gru = ops.gru_sequence(steps, ones(2, 1, 4), lengths, ones(1, 12, 4), ones(1, 12, 4), ones(1, 12), 4, "forward")
        steps = ops.squeeze(gru.output(0), number([1]))
        rnn = ops.rnn_sequence(steps, ones(2, 1, 4), lengths, ones(1, 4, 4), ones(1, 4, 4), ones(1, 4), 4, "reverse")
        return [rnn.output(0), lstm.output(2), gru.output(1)]

    return made_of(run, x="f32[2,5,3]")


BUILT: tuple[Callable[[], ov.Model], ...] = (
    *(counted_loop, backward_iterator, iterator_of_cells, branch_in_loop, states, sequences),
)
SAMPLED = ("loop", "tensor_iterator", "if_bodies")
MODELS = (*(build.__name__ for build in BUILT), *SAMPLED)
"""Names of models: those built here, and samples."""


@cache
def written(name: str) -> tuple[bytes, bytes]:
    """Return the .xml and the .bin of a model."""
    if name in SAMPLED:
        weights = VALID / f"{name}.bin"
        return (VALID / f"{name}.xml").read_bytes(), weights.read_bytes() if weights.exists() else b""
    (build,) = (build for build in BUILT if build.__name__ == name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        ov.serialize(build(), path)
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()
