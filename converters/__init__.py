"""Conversion of ONNX models and PyTorch programs to OpenVINO IR. All names are loaded on first use, as onnx-ir takes 60 MB."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOME = {
    "ConversionError": "errors",
    "LossyConversionWarning": "inexactness",
    "as_lanes": "lane_types",
    "compile_onnx": "compile",
    "convert_model": "models",
    "convert_node": "nodes",
    "from_lanes": "lane_types",
    "prove_onnx": "proofs",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ov_gather.converters' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f".{_HOME[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
