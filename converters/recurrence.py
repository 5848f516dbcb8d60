"""LSTMSequence, GRUSequence and RNNSequence as iterations over their cells, which keep states behind the end of sequences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ov_gather.extension.python_api import Model, Output
from ov_gather.extension.python_api import Node as OpenvinoNode
from ov_gather.extension.python_api import opset13 as ops

_CELLS = {"GRUSequence": ops.gru_cell, "LSTMSequence": ops.lstm_cell, "RNNSequence": ops.rnn_cell}
_WEIGHTS = 3
"""Inputs behind the lengths: W, R and B."""
_BACKWARDS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Which directions go through time backwards."""


def iterated(sequence: OpenvinoNode) -> list[Output]:
    """Return what takes the place of the outputs of a sequence: its hidden states at each time, and the last ones.

    Sequence(x [batch, time, input], h [batch, directions, hidden], lengths, W [directions, ...], R, B)  ->  a Loop
    over time for each direction, whose results are joined along the axis of directions, 1.
    """
    data, *states, lengths = sequence.input_values()[:-_WEIGHTS]
    weights = sequence.input_values()[-_WEIGHTS:]
    times = ops.gather(ops.shape_of(data), ops.constant(np.int64(1)), ops.constant(np.int64(0)))
    every = ops.range(ops.constant(np.int64(0)), times, ops.constant(np.int64(1)), "i64")
    is_inside = ops.less(every, ops.reshape(ops.convert(lengths, "i64"), ops.constant(np.array([-1, 1])), False)).output(0)
    directions = []
    for number, is_backwards in enumerate(_BACKWARDS[sequence.get_attributes()["direction"]]):
        turned = _reversed if is_backwards else _unchanged
        own = [_part(one, number, 1) for one in states], [_part(one, number, 0) for one in weights]
        shown, *last = _steps(sequence, times, [turned(data), turned(is_inside)], *own)
        directions.append([turned(shown), *last])
    axis = ops.constant(np.int64(1))
    return [ops.concat([ops.unsqueeze(one, axis) for one in made], 1).output(0) for made in zip(*directions, strict=True)]


def _reversed(value: Output) -> Output:
    """Return a value whose axis 1, that of time, is reversed."""
    first, end, step, axis = (ops.constant(np.array([number])) for number in (-1, np.iinfo(np.int64).min, -1, 1))
    return ops.slice(value, first, end, step, axis).output(0)


def _unchanged(value: Output) -> Output:
    return value


def _part(value: Output, number: int, axis: int) -> Output:
    return ops.gather(value, ops.constant(np.int64(number)), ops.constant(np.int64(axis))).output(0)


def _steps(
    sequence: OpenvinoNode, times: OpenvinoNode, sliced: Sequence[Output], states: Sequence[Output], weights: Sequence[Output]
) -> list[Output]:
    """Return the states [batch, time, hidden] and [batch, hidden] of one direction; data and `is_inside` are sliced by time.

    Steps outside of a sequence keep the states; backwards, they come first.
    """
    element, is_inside, *_ = parts = [_parameter(value, time=1) for value in sliced]
    held, fixed = ([_parameter(value) for value in values] for values in (states, weights))
    attributes = {name: value for name, value in sequence.get_attributes().items() if name != "direction"}
    zero, one = ops.constant(np.int64(0)), ops.constant(np.int64(1))
    cell = _CELLS[sequence.get_type_name()](ops.squeeze(element, one), *held, *fixed, **attributes)
    following = [ops.select(is_inside, *pair) for pair in zip(cell.outputs(), held, strict=True)]
    shown = ops.select(is_inside, cell.output(0), ops.constant(0, cell.get_output_element_type(0)))
    goes_on = ops.constant(np.array([True]))
    results = [ops.result(each) for each in (*following, ops.unsqueeze(shown, zero), goes_on)]

    loop = ops.loop(times, ops.constant(np.array(True)))  # a TensorIterator may not stand in another one
    loop.set_function(Model(results, [*parts, *held, *fixed], "step"))
    loop.set_special_body_ports([-1, len(results) - 1])
    for parameter, value in zip(parts, sliced, strict=True):
        loop.set_sliced_input(parameter, value, 0, 1, 1, -1, 1)
    for parameter, value, result in zip(held, states, results, strict=False):
        loop.set_merged_input(parameter, value, result.output(0))
    for parameter, value in zip(fixed, weights, strict=True):
        loop.set_invariant_input(parameter, value)
    joined = loop.get_concatenated_slices(
        results[-2].output(0), 0, 1, 1, -1, 0
    )  # by time first: other axes may end the process
    by_batch = ops.transpose(joined, ops.constant(np.array([1, 0, 2])))
    return [by_batch.output(0), *(loop.get_iter_value(result.output(0), -1) for result in results[:-2])]


def _parameter(value: Output, *, time: int | None = None) -> OpenvinoNode:
    """Return a Parameter for a value in a body; with `time`, for a slice of so many elements along axis 1."""
    shape = value.get_partial_shape()
    if time is not None:
        shape[1] = time
    return ops.parameter(shape, value.get_element_type())
