"""Conversion of ONNX models and PyTorch programs to OpenVINO IR."""

from __future__ import annotations

from .compile import compile_onnx
from .errors import ConversionError
from .inexactness import LossyConversionWarning
from .lane_types import as_lanes, from_lanes
from .models import convert_model
from .nodes import convert_node
from .proofs import prove_onnx

__all__ = [
    "ConversionError",
    "LossyConversionWarning",
    "as_lanes",
    "compile_onnx",
    "convert_model",
    "convert_node",
    "from_lanes",
    "prove_onnx",
]
