"""Values of a quantised ONNX model that OpenVINO's low-precision passes may reach; see `divergences.low_precision`."""

from __future__ import annotations

import onnx_ir

from ov_gather.divergences.low_precision import STOPS

_NARROW = (onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8, onnx_ir.DataType.INT4, onnx_ir.DataType.UINT4)


def is_quantised(model: onnx_ir.Model) -> bool:
    """Return True if OpenVINO will run its low-precision passes: it converts QuantizeLinear to FakeQuantize."""
    return any(node.op_type in ("QuantizeLinear", "FakeQuantize") for node in model.graph.all_nodes())


def is_low_precision(value: onnx_ir.Value) -> bool:
    """Return True if a value of a quantised model may be computed in 8 bits: a quantisation or dequantisation precedes it."""
    left, seen = [value], {value}
    while left:
        node = left.pop().producer()
        if node is None or node.op_type in STOPS:
            continue
        inputs = [given for given in node.inputs if given is not None]
        if node.op_type in ("QuantizeLinear", "FakeQuantize") or any(given.dtype in _NARROW for given in inputs):
            return True
        more = [given for given in inputs if given not in seen and (given.dtype is None or not given.dtype.is_integer())]
        seen.update(more)
        left += more
    return False
