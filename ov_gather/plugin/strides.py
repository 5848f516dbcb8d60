"""Faults of strides that OpenVINO moves from a convolution to what is computed before it."""

from __future__ import annotations

from ov_gather.graph.protocol import Node
from ov_gather.ops.table import OPENVINO, where
from ov_gather.plugin.base import KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph

_STRIDED_INSTEAD = where(OPENVINO, lambda op: op.by_element) | {"Convolution"}
"""Operations that OpenVINO lets take the strides of a convolution behind them."""


def _of_padding(graph: PatternGraph, node: Node) -> bool:
    """Return True for windows of one element in larger strides, some of which begin in the padding."""
    data, windows = graph.shape(node), graph.shape(node, 1)
    if not data.is_static or not windows.is_static or any(size != 1 for size in windows.sizes[2:]):
        return False
    strides, *pads = (node.integers(name) or [] for name in ("strides", "pads_begin", "pads_end"))
    pad = graph.producer(node, 0, "Pad")  # OpenVINO fuses it into the convolution first
    if pad is not None:
        pads += [array[2:].tolist() for i in (1, 2) if (array := graph.constant(pad, i)) is not None]
    source = graph.producer(node if pad is None else pad)
    if source is None or source.type not in _STRIDED_INSTEAD:
        return False
    return any(stride > 1 and any(sizes) for stride, *sizes in zip(strides, *pads, strict=True))


STRIDES = (
    KnownFault(
        report="strides_of_padding",
        types=("Convolution",),
        occurs=_of_padding,
        operands=2,
        instead="a Convolution of windows of one element takes strides before it pads: its shape and elements are others",
        remedy="use strides of 1, and a Slice of its result",
        taints=True,
        converter="avoids",
    ),
)
