"""Our scatters take the lanes of numbers of 64 bits and of complex numbers: they move these, and reduce them.

No other operation in lanes reduces. Smaller numbers are moved as by any other operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import SCATTERS
from ov_gather.ops.spec import CUSTOM_OPSET

from ..loading import is_default
from .lane_nodes import Move

_NUMBERS: Mapping[DataType, str] = {
    DataType.INT64: "i64",
    DataType.UINT64: "u64",
    DataType.DOUBLE: "f64",
    DataType.COMPLEX64: "c64",
    DataType.COMPLEX128: "c128",
}


def takes_lanes(node: onnx_ir.Node) -> bool:
    """Tell whether a node is a scatter that our operations do to numbers whose lanes are given."""
    return is_default(node, SCATTERS) and node.inputs[0] is not None and node.inputs[0].dtype in _NUMBERS


def scatter(move: Move) -> Sequence[Value]:
    """Insert our operation for such a scatter; return its output."""
    data = move.node.inputs[0]
    assert data is not None and data.dtype is not None
    return move.again(domain=CUSTOM_OPSET, lanes=_NUMBERS[data.dtype])
