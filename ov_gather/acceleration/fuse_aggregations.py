"""Aggregations of graph networks become one operation, which keeps no message of an edge in memory.

1. before: ScatterNDUpdate-15(zeros [n, d], t [e, 1], Gather(x [m, d], s [e]), reduction="sum")
   after:  ov_gather.GatherScatter(x, s, t [e], size=n)
2. before: ScatterNDUpdate-15(zeros [n, d], t [e, 1], Multiply(Gather(x [m, d], s [e]), w [e, 1]), reduction="sum")
   after:  ov_gather.GatherScatter(x, s, t [e], w, size=n)
3. before: ScatterNDUpdate-15(zeros [n, h * d], t [e, 1], Reshape(Multiply(Gather(x [m, h, d], s [e]), w [e, h, 1])), ...)
   after:  Reshape(ov_gather.GatherScatter(x, s, t [e], w, size=n))

Slices that keep all elements may be between. ScatterND of ours is replaced, too. How many edges there are may be open, as where
those from a node to itself are dropped, if there are at least two: then no size is broadcast, so that other numbers of sources,
targets and weights raise before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

import numpy as np

from ov_gather.acceleration.changes import Tracker, why_not_ours
from ov_gather.acceleration.costs import too_small
from ov_gather.acceleration.graph import constant, dims, is_ours, operation, ours, readers, replace_node, walk, wide
from ov_gather.acceleration.operators import IN_ORDER, gathers_slices, is_broadcast, op_of
from ov_gather.extension.python_api import Dimension, Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import OpKind

_SUMS = {"ScatterNDUpdate-15": "sum", "ov_gather.ScatterND": "add"}
_GATHERS = ("Gather-8", "ov_gather.Gather")
"""Gathers whose negative indices count from the end."""
_TIMES = 2
"""Minimum number of gathered elements, as a multiple of SMALL. Without weights, 12,000 took 1.05 times as long as before, and
24,000 took 0.76 times as long (an Intel Xeon with AMX, one thread)."""


@dataclass(frozen=True, slots=True)
class _Messages:
    """The rows that a scatter adds: gathered, maybe weighted, by nodes `between` the gather and the scatter."""

    gather: Node
    weights: Output | None
    between: list[Node]


def fuse_aggregations(model: Model, tracker: Tracker) -> None:
    """Rewrite sums, into zeros, of gathered rows of f32 that nothing else reads."""
    for scatter in [node for _, node in walk(model) if _adds_rows(node)]:
        messages = None if tracker.leaves(scatter) else _messages_of(scatter.input_value(2))
        if messages is None or tracker.leaves(messages.gather):
            continue
        reason = _why_not(scatter, messages) or why_not_ours(messages.gather, messages.gather, open_size=tracker.open_size)
        if reason:
            tracker.kept(scatter, reason)
            continue
        fused = _fused(scatter, messages)
        shape = scatter.get_output_shape(0)
        is_same = list(fused.get_output_shape(0)) == list(shape)
        replace_node(scatter, fused if is_same else ops.reshape(fused, ops.constant(np.array(shape)), False))
        done = f"{operation(fused)} by {fused.get_input_partial_shape(1)}"
        for replaced in (scatter, messages.gather):
            tracker.done(replaced, done, fused, rounds=True)


def _adds_rows(node: Node) -> bool:
    return operation(node) in _SUMS and node.get_attributes()["reduction"] == _SUMS[operation(node)]


def _messages_of(updates: Output) -> _Messages | None:
    """Return what computes the updates of a scatter; None if it is not a gather, maybe with weights."""
    between: list[Node] = []
    node = _computed_by(updates, between)
    if node.get_type_name() in IN_ORDER:
        node = _computed_by(node.input_value(0), between)
    if op_of(node).symbol != "*":
        return _Messages(node, None, between) if gathers_slices(node) else None
    for rows, weights in permutations(node.input_values()):
        before: list[Node] = []
        gather = _computed_by(rows, before)
        if gathers_slices(gather) and gather.get_output_partial_shape(0) == node.get_output_partial_shape(0):
            return _Messages(gather, weights, [*between, *before])
    return None


def _computed_by(value: Output, passed: list[Node]) -> Node:
    """Return the node that computes a value, before Slices that keep all elements; append that and these to `passed`."""
    node = value.get_node()
    passed.append(node)
    while node.get_type_name() == "Slice" and _keeps_all(node):
        node = node.input_value(0).get_node()
        passed.append(node)
    return node


def _keeps_all(slice_: Node) -> bool:
    steps, shape = constant(slice_.input_value(3)), slice_.get_input_partial_shape(0)
    is_same = shape.is_static and shape == slice_.get_output_partial_shape(0)
    return bool(is_same and steps is not None and (steps > 0).all())


def _why_not(scatter: Node, messages: _Messages) -> str:
    """Return the reason why ours cannot compute the same sums; empty if it can."""
    gather, weights = messages.gather, messages.weights
    values = [scatter.output(0), scatter.input_value(2), gather.input_value(0), gather.output(0)]
    of_edges = [gather.input_value(1), scatter.input_value(1), *([] if weights is None else [weights])]
    shapes = [dims(value) for value in (*values, *of_edges)]
    if any(shape is None or any(dim.is_dynamic for dim in shape[1:]) for shape in shapes):
        return "the size of the aggregation is open"
    output, updates, data, rows, sources, targets, *weight = [list(shape or ()) for shape in shapes]
    if any(dim.is_dynamic for dim in (*output[:1], *data[:1])):
        return "how many nodes there are is open"
    axis = constant(gather.input_value(2))
    if operation(gather) not in _GATHERS or axis is None or axis.item() % len(data) or gather.get_attributes()["batch_dims"]:
        return "what it adds is not gathered along the first axis"
    if len(sources) != 1 or targets[1:] != [1]:
        return "it does not add one row for each index"
    if _count(updates[1:]) != _count(rows[1:]) or _count(output[1:]) == 1:
        return "it does not add whole rows"
    if weight and not _fit(weight[0], rows):
        return "a weight is not for adjacent elements of one row"
    counts = [sources[0], targets[0], *(one[0] for one in weight)]
    if not all(count.is_static and count == counts[0] for count in counts) and min(map(Dimension.get_min_length, counts)) < 2:
        return "indices and weights are not known to be one for each row"
    if scatter.get_element_type().get_type_name() != "f32":
        return f"of {scatter.get_element_type().get_type_name()} not all bits are known to stay the same"
    if not _is_zeros(scatter.input_value(0)):
        return "it adds to other numbers than zeros"
    if any(len(list(filter(_reads_elements, readers(node)))) != 1 for node in messages.between):
        return "the rows that it adds are read elsewhere, too"
    return "too small to gain" if too_small(gather.output(0), _TIMES) else ""


def _reads_elements(node: Node) -> bool:
    """Return True unless a node reads a shape alone, which is static here, so that OpenVINO folds it."""
    return op_of(node).kind is not OpKind.SHAPE


def _is_zeros(value: Output) -> bool:
    """Return True for a constant of 0.0, -0.0 not included, or a Broadcast of one."""
    given = constant(value.get_node().input_value(0) if is_broadcast(value.get_node()) else value)
    return given is not None and not (given.any() or np.signbit(given).any())


def _count(shape: Sequence[Dimension]) -> int:
    return prod(len(dim) for dim in shape)


def _fit(weights: Sequence[Dimension], rows: Sequence[Dimension]) -> bool:
    """Return True if weights have the shape of the rows, or 1 from some dimension on."""
    leading = max((axis + 1 for axis, size in enumerate(weights) if size != 1), default=1)
    return len(weights) == len(rows) and list(weights[1:leading]) == list(rows[1:leading])


def _fused(scatter: Node, messages: _Messages) -> Node:
    gather = messages.gather
    targets = ops.squeeze(scatter.input_value(1), ops.constant(np.array([1]))).output(0)
    inputs = [*gather.input_values()[:2], wide(targets), *([] if messages.weights is None else [messages.weights])]
    bounds = gather.get_attributes()["bounds"] if is_ours(gather) else "zero"
    return ours("GatherScatter", inputs, {"size": int(scatter.get_output_shape(0)[0]), "bounds": bounds})
