"""Repairs of arithmetic in a converted model that OpenVINO would compute differently from its source."""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.graph import ancestors, copied, nodes_of, readers, replace_node, walk
from ov_gather.extension.python_api import Model, Node, Output, Type, opset15
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.ranges.doubts import is_fused
from ov_gather.ranges.graph import AnalysedGraph

_BINARY = [f"{name}-1" for name in where(OPENVINO, lambda op: op.kind is OpKind.ARITHMETIC and bool(op.symbol))]


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


def compare_with_zero(model: Model) -> None:
    """Rewrite in place, bodies included, Convert(x) to boolean  ->  NotEqual(x, 0), which is true of NaN, as ONNX's Cast."""
    for convert in nodes_of(model, "Convert-1"):
        value = convert.input_value(0)
        if convert.get_element_type() != Type.boolean or value.get_element_type() == Type.string:
            continue
        if value.get_element_type() == Type.boolean:  # the plugin, which has bytes instead, does not remove it
            convert.output(0).replace(value)
        else:
            replace_node(convert, ops.not_equal(value, ops.constant(0, value.get_element_type())))


def keep_ranks(model: Model) -> None:
    """Rewrite in place, bodies included, binary operations of constants whose rank OpenVINO would change.

    Minimum(x[], constant[1]), which becomes [] if x is a Reshape  ->  Unsqueeze(Minimum(x[], Squeeze(constant[1])))
    """
    for node in nodes_of(model, *_BINARY):
        _keep_rank(node)


def _keep_rank(node: Node) -> None:
    shapes = [value.get_partial_shape() for value in node.input_values()]
    if any(shape.rank.is_dynamic for shape in shapes) or len(shapes[0]) == len(shapes[1]):
        return
    longer = int(len(shapes[1]) > len(shapes[0]))
    value, added = node.input_value(longer), len(shapes[longer]) - len(shapes[1 - longer])
    if shapes[longer].is_static and set(shapes[longer].to_shape()) == {1} and _is_constant(value):
        operands = node.input_values()
        operands[longer] = ops.squeeze(value, ops.constant(np.arange(len(shapes[longer])))).output(0)
        scalar = copied(node, operands)
        scalar.set_friendly_name(f"{node.get_friendly_name()}/scalar")
        replace_node(node, ops.unsqueeze(scalar, ops.constant(np.arange(added))))


def _is_constant(value: Output) -> bool:
    """Return True if a value depends on constants alone."""
    nodes = ancestors([value], lambda node: node.input_values())
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


def drop_padded_windows(model: Model) -> None:
    """Rewrite in place, bodies included, MaxPool whose sizes are rounded up  ->  the same, without windows in the padding.

    ONNX has no window that would start in the padding at the end, as OpenVINO's front end knows of AveragePool alone.
    """
    for node in nodes_of(model, "MaxPool-8"):
        given = node.get_attributes()
        if given["rounding_type"] == "ceil":
            names = ("strides", "dilations", "pads_begin", "pads_end", "auto_pad", "index_element_type", "axis")
            more = {name: given[name] for name in names}
            pool = opset15.max_pool(node.input_value(0), kernel_shape=given["kernel"], rounding_type="ceil_torch", **more)
            pool.set_friendly_name(node.get_friendly_name())
            for old, new in zip(node.outputs(), pool.outputs(), strict=True):
                old.replace(new)
