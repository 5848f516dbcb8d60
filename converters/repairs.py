"""Repairs of a converted model where it meets a known fault of OpenVINO, bodies included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ov_gather.acceleration.graph import copied, replace_node
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.plugin.base import KnownFault
from ov_gather.plugin.register import KNOWN
from ov_gather.ranges.known_faults import FaultFinder

_ROUNDS = 4
"""Most rounds of repairs: what one makes may meet another fault."""


def repair_faults(model: Model) -> list[tuple[KnownFault, Node]]:
    """Repair a model in place until it meets no fault that has a repair; return these faults, and the nodes that met them."""
    faults = [fault for fault in KNOWN if fault.report in REPAIRS]
    repaired = list[tuple[KnownFault, Node]]()
    for _ in range(_ROUNDS):
        found = [(fault, node.handle) for fault, node in FaultFinder(OpenvinoGraph(model)).found(faults)]
        for fault, node in found:
            REPAIRS[fault.report](node)
        repaired += found
        if not found:
            break
    return repaired


def _as_matrix(absolute: Node) -> None:
    """Abs(x) of a vector  ->  Squeeze(Abs(Unsqueeze(x)))."""
    axis = ops.constant(np.array([0]))
    replace_node(absolute, ops.squeeze(ops.abs(ops.unsqueeze(absolute.input_value(0), axis)), axis))


def _compare(convert: Node) -> None:
    """Convert(x) to boolean  ->  NotEqual(x, 0)."""
    replace_node(convert, _is_not_zero(convert.input_value(0)))


def _count(non_zero: Node) -> None:
    """NonZero(x)  ->  NonZero(NotEqual(x, 0))."""
    non_zero.input(0).replace_source_output(_is_not_zero(non_zero.input_value(0)).output(0))


def _is_not_zero(value: Output) -> Node:
    return ops.not_equal(value, ops.constant(0, value.get_element_type()))


def _limit(node: Node) -> None:
    """Range(start, limit, step)  ->  Range(start, Select(step > 0, Maximum(limit, start), Minimum(limit, start)), step)."""
    start, limit, step = node.input_values()
    kind = limit.get_element_type()
    sign = np.sign(step.get_node().get_data()).item() if step.get_node().get_type_name() == "Constant" else 0
    ahead, back = ops.maximum(limit, ops.convert(start, kind)), ops.minimum(limit, ops.convert(start, kind))
    either = ops.select(ops.greater(step, ops.constant(0, step.get_element_type())), ahead, back)
    node.input(1).replace_source_output((ahead if sign > 0 else back if sign < 0 else either).output(0))


def _choose_apart(select: Node) -> None:
    """Select(Less(a, b), x, y)  ->  Select(Convert(Convert(Less(a, b))), x, y), which is not fused."""
    condition = ops.convert(ops.convert(select.input_value(0), "i32"), "boolean")
    select.input(0).replace_source_output(condition.output(0))


def _at_least_zero(relu: Node) -> None:
    """ReLU(x)  ->  Maximum(x, 0)."""
    value = relu.input_value(0)
    replace_node(relu, ops.maximum(value, ops.constant(0, value.get_element_type())))


def _in_32_bits(node: Node) -> None:
    """Add(x, y) of bytes  ->  Convert(Add(Convert(x), Convert(y)))."""
    kind = node.get_element_type()
    wide = copied(node, [ops.convert(value, "i32").output(0) for value in node.input_values()])
    replace_node(node, ops.convert(wide, kind))


REPAIRS: Mapping[str, Callable[[Node], None]] = {
    "abs_of_clamp": _as_matrix,
    "abs_of_folded_convert": _as_matrix,
    "abs_overwrites_concat": _as_matrix,
    "bytes_saturate": _in_32_bits,
    "convert_to_boolean_is_refused": _compare,
    "convert_to_boolean_of_another_output": _compare,
    "non_zero_before_convert": _count,
    "range_away_from_its_limit": _limit,
    "relu_through_float32": _at_least_zero,
    "select_through_float32": _choose_apart,
}
"""What repairs a fault, by its report."""
