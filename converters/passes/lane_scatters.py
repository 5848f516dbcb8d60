"""Our scatters take the lanes of numbers of 64 bits: they move these, and reduce them, which no other operation in lanes does.

What our operations do not take, smaller numbers and complex128, is moved as by any other operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir
from onnx_ir import DataType, Value

from ov_gather.ops.onnx_nodes import SCATTERS
from ov_gather.ops.spec import CUSTOM_OPSET

from ..inexactness import only_scatters
from ..loading import is_default
from .lane_moves import Move

# The types of the numbers of our operations. What is not reduced may be of any type of 64 bits.
_REDUCED: Mapping[DataType, str] = {DataType.INT64: "i64", DataType.UINT64: "u64", DataType.DOUBLE: "f64"}
_MOVED = "i64"


def takes_lanes(node: onnx_ir.Node) -> bool:
    """Tell whether a node is a scatter that our operations do to numbers whose lanes are given."""
    dtype = None if not is_default(node, SCATTERS) or node.inputs[0] is None else node.inputs[0].dtype
    return dtype in _REDUCED or (dtype is DataType.COMPLEX64 and only_scatters(node))


def scatter(move: Move) -> Sequence[Value]:
    """Insert our operation for such a scatter; return its output."""
    dtype = None if move.node.inputs[0] is None else move.node.inputs[0].dtype
    return move.again(domain=CUSTOM_OPSET, lanes=_MOVED if dtype is None else _REDUCED.get(dtype, _MOVED))
