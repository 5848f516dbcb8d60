"""Repairs of arithmetic in a converted model that OpenVINO would compute differently from its source."""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.graph import ancestors, copied, nodes_of, readers, replace_node, walk
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.ranges.folding import is_fused
from ov_gather.ranges.graph import AnalysedGraph

_NUMBERS = ("bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")

_BINARY = ("Add-1", "Divide-1", "Maximum-1", "Minimum-1", "Mod-1", "FloorMod-1", "Multiply-1", "Power-1", "Subtract-1")
_WIDE = ("i32", "i64", "u32", "u64")
"""Integer types with values that f32 does not represent."""


def repair_division(model: Model) -> None:
    """Rewrite integer divisions in place, bodies included, so that they round as the source does.

    1. Divide(-3, 5) of constants, folded to -1     ->  the same, set to round towards zero: 0
    2. Divide(s, 2), s = ReduceSum(x) or MatMul,    ->  Divide(Subtract(s, Mod(s, 2)), 2): exact, and not fused, as s is
       fused in f32: 7 / 2 = 4, and 2 / 7 is 7 / 2      used twice
    3. Floor(Divide(x, 2)), PyTorch's x // 2:       ->  Floor(Divide(Subtract(x, FloorMod(x, 2)), 2)): exact, -3 // 2 = -2
       -3 // 2 = -1
    """
    source = OpenvinoGraph(model)
    graph = AnalysedGraph(source)
    for divide in nodes_of(model, "Divide-1"):
        divide.set_attribute("m_pythondiv", False)  # case 1
        one, other = divide.input_values()
        if not divide.get_element_type().is_integral_number():
            continue
        rounds_down = any(reader.get_type_name() == "Floor" for reader in readers(divide))
        if rounds_down or is_fused(graph, source.key(one)) or is_fused(graph, source.key(other)):  # cases 3 and 2
            remainder = ops.floor_mod(one, other) if rounds_down else ops.mod(one, other)
            remainder.set_friendly_name(f"{divide.get_friendly_name()}/remainder")
            multiple = ops.subtract(one, remainder)
            exact = ops.divide(multiple, other)
            exact.set_attribute("m_pythondiv", False)
            replace_node(divide, exact)


def repair_arithmetic(model: Model) -> None:
    """Rewrite in place, bodies included, operations whose meaning OpenVINO's passes would change.

    1. Abs(x[?]) of constants and sizes, dropped      ->  Squeeze(Abs(Unsqueeze(x)))
    2. Convert(x) to boolean, which reads output 0    ->  NotEqual(x, 0)
       of a node with several, and is false for NaN
    3. Select(Less(a, b), x, y) of integers, fused    ->  Select(Convert(Convert(Less(a, b))), x, y)
       in f32, which rounds x and y
    4. Minimum(x[], constant[1]), which becomes       ->  Unsqueeze(Minimum(x[], Squeeze(constant[1])))
       [] if x is a Reshape
    5. NonZero(Convert(x)), which counts what the     ->  NonZero(NotEqual(Convert(x), 0))
       Convert makes 0, as OpenVINO removes it
    """
    for absolute in nodes_of(model, "Abs-1"):  # case 1
        rank = absolute.get_output_partial_shape(0).rank
        if (rank.is_dynamic or rank.get_length() == 1) and _is_bounded(absolute.input_value(0)):
            axis = ops.constant(np.array([0]))
            raised = ops.abs(ops.unsqueeze(absolute.input_value(0), axis))
            replace_node(absolute, ops.squeeze(raised, axis))
    for convert in nodes_of(model, "Convert-1"):  # case 2
        value = convert.input_value(0)
        if convert.get_element_type().get_type_name() == "boolean" and value.get_element_type().get_type_name() in _NUMBERS:
            replace_node(convert, ops.not_equal(value, ops.constant(0, value.get_element_type())))
    for select in nodes_of(model, "Select-1"):  # case 3
        condition = select.input_value(0)
        is_given = condition.get_node().get_type_name() in ("Constant", "Parameter")
        if is_given or select.get_element_type().get_type_name() not in _WIDE or _is_bounded(select.output(0)):
            continue
        numbers = ops.convert(condition, "i32")
        select.input(0).replace_source_output(ops.convert(numbers, "boolean").output(0))
    for node in nodes_of(model, *_BINARY):
        _keep_rank(node)
    for non_zero in nodes_of(model, "NonZero-3"):  # case 5
        value = non_zero.input_value(0)
        if value.get_node().get_type_name() == "Convert" and value.get_element_type().get_type_name() in _NUMBERS:
            counted = ops.not_equal(value, ops.constant(0, value.get_element_type()))
            non_zero.input(0).replace_source_output(counted.output(0))


def _keep_rank(node: Node) -> None:
    """Apply case 4 of `repair_arithmetic`."""
    shapes = [value.get_partial_shape() for value in node.input_values()]
    if any(shape.rank.is_dynamic for shape in shapes) or len(shapes[0]) == len(shapes[1]):
        return
    longer = int(len(shapes[1]) > len(shapes[0]))
    value, added = node.input_value(longer), len(shapes[longer]) - len(shapes[1 - longer])
    if shapes[longer].is_static and set(shapes[longer].to_shape()) == {1} and _is_bounded(value, by_sizes=False):
        operands = node.input_values()
        operands[longer] = ops.squeeze(value, ops.constant(np.arange(len(shapes[longer])))).output(0)
        scalar = copied(node, operands)
        scalar.set_friendly_name(f"{node.get_friendly_name()}/scalar")
        replace_node(node, ops.unsqueeze(scalar, ops.constant(np.arange(added))))


def _is_bounded(value: Output, *, by_sizes: bool = True) -> bool:
    """Return True if a value depends on constants and shapes alone; on constants alone if not `by_sizes`.

    OpenVINO drops an Abs of such a value, whatever its sign, and infers shapes from the value.
    """
    nodes = ancestors([value], lambda node: [] if by_sizes and node.get_type_name() == "ShapeOf" else node.input_values())
    return all(node.get_input_size() or node.get_type_name() == "Constant" for node in nodes)


def keep_order_of_ties(model: Model) -> None:
    """Make every TopK stable, bodies included: for ties ONNX takes the lowest index, OpenVINO only if stable.

    Before: TopK(sort="none" or "value", stable=False). After: TopK(sort="value", stable=True). An unsorted TopK of ONNX may
    return its numbers in any order, so sorting them is valid.
    """
    for _, node in walk(model):
        given = node.get_attributes() if node.get_type_name() == "TopK" else {}
        if given.get("stable") is False and given["sort"] != "index":
            node.set_attribute("sort", "value")
            node.set_attribute("stable", True)
