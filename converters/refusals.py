"""Models that would end the process, or move strings wrongly, on OpenVINO's CPU plugin: they are refused."""

from __future__ import annotations

import onnx_ir

from .errors import ConversionError, describe
from .loading import is_default

# The plugin copies strings as bytes in other operators: results are wrong, or memory is freed twice. Its front end has no
# conversion for most operators that compute with strings, and says so.
_MOVES_STRINGS = (
    *("Compress", "Concat", "Constant", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape", "Scatter"),
    *("ScatterElements", "ScatterND", "Shape", "Size", "Squeeze", "Transpose", "Unsqueeze"),
)


def refuse_fatal(model: onnx_ir.Model) -> None:
    """Raise ConversionError for a node that OpenVINO's CPU plugin dies of."""
    for node in model.graph.all_nodes():
        values = [value for value in (*node.inputs, *node.outputs) if value is not None and _is_string(value)]
        if values and node.domain == "" and not is_default(node, _MOVES_STRINGS):
            raise ConversionError(
                f"{describe(node)}: OpenVINO's CPU plugin copies strings as bytes in {node.op_type}, which ends the process; "
                f"it moves them in {', '.join(name for name in _MOVES_STRINGS if name != 'Constant')}"
            )


def _is_string(value: onnx_ir.Value) -> bool:
    kind = value.type
    while isinstance(kind, onnx_ir.SequenceType | onnx_ir.OptionalType):
        kind = kind.elem_type
    return kind is not None and kind.dtype is onnx_ir.DataType.STRING
