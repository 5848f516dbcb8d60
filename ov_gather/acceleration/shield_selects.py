"""Conversions that let OpenVINO's CPU plugin compile a Select of 64-bit results of our scatters.

The plugin inserts a Convert to i32 behind each operation of unknown type with 64-bit integer outputs, such as our scatters,
before it narrows the rest of the model. A Select in between then has an i32 and an i64 operand:

before: Scatter(i64) -> Select                                   "Argument 1 and 2 element types must match"
after:  Scatter(i64) -> Convert(i32) -> Convert(i64) -> Select   each Select sees i64 until everything is narrowed

The plugin computes in 32 bits anyway, and removes the second Convert.
"""

from __future__ import annotations

from ov_gather.acceleration.graph import is_ours, is_scatter, walk
from ov_gather.acceleration.operators import op_of
from ov_gather.extension.python_api import Model, Node
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import OpKind

_WIDE = ("i64", "u64")


def shield_selects(model: Model) -> None:
    """Insert the conversions, in place and in bodies, if there is any Select: a pass of the plugin may move it to a scatter."""
    nodes = [node for _, node in walk(model)]
    if not any(op_of(node).kind is OpKind.SELECTION for node in nodes):
        return
    for node in filter(_is_wide_scatter, nodes):
        wide, readers = node.output(0), [port for port in node.output(0).get_target_inputs() if not _is_safe(port.get_node())]
        if readers:
            narrow = ops.convert(wide, "i32").output(0)
            same = ops.convert(narrow, wide.get_element_type().get_type_name()).output(0)
            for reader in readers:
                reader.replace_source_output(same)


def _is_wide_scatter(node: Node) -> bool:
    """Return True for our scatters of 64-bit integers that OpenVINO does not fold."""
    is_unknown = is_ours(node) and is_scatter(node)  # the plugin knows the type names of our gathers from stock operations
    is_folded = all(value.get_node().get_type_name() == "Constant" for value in node.input_values())
    return is_unknown and not is_folded and node.get_output_element_type(0).get_type_name() in _WIDE


def _is_safe(reader: Node) -> bool:
    """Return True for a Result, which names the tensor it reads, and for a Convert to a narrower type, which stays."""
    kind = op_of(reader).kind
    return kind is OpKind.END or (kind is OpKind.CAST and reader.get_output_element_type(0).get_type_name() not in _WIDE)
