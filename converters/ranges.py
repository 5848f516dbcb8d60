"""This module tells between which bounds the integers of an ONNX model lie, as far as the graph alone tells."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir

from .graphs import bodies_of, constant_of
from .interval import Interval, every_value, union
from .range_rules import RULES

__all__ = ["Interval", "Ranges", "integer_ranges"]


class Ranges:
    """What is known of each value of a model."""

    def __init__(self) -> None:
        self._known: dict[onnx_ir.Value, Interval] = {}

    def of(self, value: onnx_ir.Value | None) -> Interval | None:
        """Bounds of all elements of an integer or boolean tensor; None for anything else."""
        if value is None or not isinstance(value.type, onnx_ir.TensorType) or value.dtype is None:
            return None
        if value not in self._known:
            self.learn(value, _of_constant(value))
        return self._known.get(value)

    def learn(self, value: onnx_ir.Value, found: Interval | None) -> None:
        """Remember bounds; what they leave open, or what wraps around, may be any value of its element type."""
        widest = None if value.dtype is None else every_value(value.dtype)
        if widest is not None:
            fits = found is not None and widest.lo <= found.lo and found.hi <= widest.hi
            self._known[value] = found if found is not None and fits else widest


def integer_ranges(model: onnx_ir.Model) -> Ranges:
    """Analyse the graph and, with the values they take from outside, the bodies of If, Loop and Scan.

    Values need types and shapes: infer them first. A tensor is taken to have fewer than 2^31 elements, as on the CPU plugin.
    Floating-point bounds are not followed: a NaN keeps to none.
    """
    ranges = Ranges()
    _visit(model.graph, ranges)
    return ranges


def _visit(nodes: Iterable[onnx_ir.Node], ranges: Ranges) -> None:
    """Analyse in order; bodies, which stand in bodies on some 30 levels at most as protobuf reads no more, on the way."""
    for node in nodes:
        for _, body in bodies_of(node):
            for value, found in _of_body_inputs(node, body, ranges):
                ranges.learn(value, found)
            _visit(body, ranges)
        rules = RULES.get(node.op_type) if node.domain == "" else None
        if rules is not None:
            for position, output in enumerate(node.outputs):
                ranges.learn(output, rules[min(position, len(rules) - 1)](node, ranges.of))
        elif node.domain == "" and node.op_type in _OF_BODIES:
            for position, output in enumerate(node.outputs):
                ranges.learn(output, _OF_BODIES[node.op_type](node, position, ranges))


def _of_constant(value: onnx_ir.Value) -> Interval | None:
    tensor = constant_of(value)
    if tensor is None or every_value(tensor.dtype) is None or tensor.dtype.bitwidth < 32:
        return None  # narrow integers are bounded well enough by their type, and often are the weights of a whole layer
    array = tensor.numpy()
    return Interval(int(array.min()), int(array.max())) if array.size else Interval(0, 0)


def _of_body_inputs(node: onnx_ir.Node, body: onnx_ir.Graph, ranges: Ranges) -> Iterable[tuple[onnx_ir.Value, Interval | None]]:
    """Yield what a body is called with: a count of iterations and slices; what an iteration hands to the next may be
    anything.
    """
    if node.op_type == "Loop" and (trips := ranges.of(node.inputs[0])) is not None:
        yield body.inputs[0], Interval(0, max(trips.hi - 1, 0))
    elif node.op_type == "Scan":
        count = node.attributes["num_scan_inputs"].as_int()
        for inner, outer in zip(body.inputs[::-1][:count], node.inputs[::-1], strict=False):
            yield inner, ranges.of(outer)


def _of_if(node: onnx_ir.Node, position: int, ranges: Ranges) -> Interval | None:
    return union(ranges.of(branch.outputs[position]) for _, branch in bodies_of(node))


def _of_loop(node: onnx_ir.Node, position: int, ranges: Ranges) -> Interval | None:
    given = node.inputs[2:]
    last = ranges.of(node.attributes["body"].as_graph().outputs[position + 1])
    return union([last, ranges.of(given[position])]) if position < len(given) else last


def _of_scan(node: onnx_ir.Node, position: int, ranges: Ranges) -> Interval | None:
    body = node.attributes["body"].as_graph()
    states = len(body.inputs) - node.attributes["num_scan_inputs"].as_int()
    last = ranges.of(body.outputs[position])
    first = len(node.inputs) - len(body.inputs)  # 1 in opset 8, whose first input is the lengths of the sequences
    return union([last, ranges.of(node.inputs[first + position])]) if position < states else last


_OF_BODIES = {"If": _of_if, "Loop": _of_loop, "Scan": _of_scan}
