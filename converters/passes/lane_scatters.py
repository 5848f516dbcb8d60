"""Scatters of 64-bit and complex numbers in lanes: our operations move and reduce them.

    ScatterND(data, i, updates)  ->  ov_gather.ScatterND(data.lanes, i, updates.lanes, lanes="i64")

No other operation reduces in lanes. Smaller numbers are moved as by other operators.
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
    """Return True if our operations can execute a scatter on lanes."""
    return is_default(node, SCATTERS) and node.inputs[0] is not None and node.inputs[0].dtype in _NUMBERS


def scatter(move: Move) -> Sequence[Value]:
    """Insert our operation for such a scatter; return its output."""
    data = move.node.inputs[0]
    assert data is not None and data.dtype is not None
    return move.again(domain=CUSTOM_OPSET, lanes=_NUMBERS[data.dtype])
