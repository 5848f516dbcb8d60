"""ONNX to OpenVINO IR."""

from __future__ import annotations

from .compile import compile_onnx
from .inexactness import LossyConversionWarning
from .models import convert_model
from .nodes import ConversionError, convert_node
from .proofs import prove_onnx

__all__ = ["ConversionError", "LossyConversionWarning", "compile_onnx", "convert_model", "convert_node", "prove_onnx"]
