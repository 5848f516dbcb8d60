"""ONNX to OpenVINO IR."""

from __future__ import annotations

from ov_gather.converters.models import convert_model
from ov_gather.converters.nodes import ConversionError, convert_node

__all__ = ["ConversionError", "convert_model", "convert_node"]
