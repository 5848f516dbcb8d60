"""Names of scatter reductions: ONNX's, which our functions and our opset use, and OpenVINO's."""

from __future__ import annotations

OPENVINO_NAMES = {"none": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}
"""ONNX's name -> OpenVINO's name. OpenVINO alone also has "sub" and "mean"."""
ONNX_NAMES = {name: of_onnx for of_onnx, name in OPENVINO_NAMES.items()}


def onnx_name(name: str) -> str:
    """Return ONNX's name of a reduction, given either name. A reduction that ONNX lacks keeps its name."""
    return ONNX_NAMES.get(name, name)
