"""ONNX to OpenVINO IR."""

from __future__ import annotations

from ov_gather.converters.compile import compile_onnx
from ov_gather.converters.losses import LossyConversionWarning
from ov_gather.converters.models import convert_model
from ov_gather.converters.nodes import ConversionError, convert_node

__all__ = ["ConversionError", "LossyConversionWarning", "compile_onnx", "convert_model", "convert_node"]
