"""Where OpenVINO's low-precision passes compute a quantised model in 8 bits: what graphs of ONNX and of OpenVINO share of it.

The passes compute in 8 bits what quantisation and dequantisation surround, and move dequantisation behind what follows. They
know Gather and not GatherElements: where one takes the place of the other, other operations are computed in 8 bits.
"""

from __future__ import annotations

REASON = "OpenVINO would compute it in 8 bits as Gather, and round elsewhere"
"""Why a GatherElements stays whose data may come from 8 bits."""

STOPS = frozenset({"Exp", "Gelu", "LogSoftmax", "Pow", "Power", "Sigmoid", "Softmax", "Sqrt", "Swish", "Tanh"})
"""Floating-point operations, of ONNX and of OpenVINO, behind which OpenVINO moves no dequantisation; of all others it is taken
to move some."""
