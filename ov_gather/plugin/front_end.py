"""What OpenVINO's ONNX front end does not read of nodes, without a word: it converts them as if it were not there."""

from __future__ import annotations

from collections.abc import Mapping

NEWEST_OPSET = 24
"""The newest opset of ONNX whose operators the front end of OpenVINO 2026.4 reads: what later ones add is ignored."""

IGNORED_ATTRIBUTES: Mapping[str, Mapping[str, str | int]] = {
    "DFT": {"onesided": 0},
    "GRU": {"layout": 0},
    "LSTM": {"layout": 0},
    "RNN": {"layout": 0},
    "Resize": {"antialias": 0, "exclude_outside": 0, "keep_aspect_ratio_policy": "stretch"},
    "RoiAlign": {"mode": "avg"},
}
"""Attributes of older operators that are ignored, each with the value for which that does not matter."""

IGNORED_INPUTS: Mapping[str, Mapping[int, str]] = {"DFT": {2: "axis"}, "LSTM": {7: "P"}}
"""Inputs of older operators that are ignored, by position."""
