"""OpenVINO's low-precision passes: facts that graphs of ONNX and of OpenVINO share.

The passes compute in 8 bits between quantization and dequantization, and move dequantization past the following operations.
They know Gather but not GatherElements, so replacing one by the other changes which operations run in 8 bits.
"""

from __future__ import annotations

from ov_gather.ops.table import EITHER, Trait, where

REASON = "OpenVINO would compute it in 8 bits as Gather, and round elsewhere"
"""Reason reported for a GatherElements that is kept because its data may come from 8 bits."""

STOPS = where(EITHER, lambda op: Trait.REAL in op.traits)
"""Floating-point operations, of ONNX and OpenVINO, past which OpenVINO moves no dequantization; it may move past any other."""
