"""ReduceL1 whose axes are an attribute, which OpenVINO's front end does not read in opsets 13 to 17.

ReduceL1 <axes = [1]> (x)  ->  ReduceSum(Abs(x), [1])
"""

from __future__ import annotations

from ov_gather.ops.onnx_nodes import attribute

from ..graphs import nodes_of
from .rewriter import Rewriter


def reduce_l1(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included."""
    for node in nodes_of(rewriter.model, "ReduceL1") if 13 <= rewriter.opset < 18 else ():
        if "axes" in node.attributes and (data := node.inputs[0]) is not None:
            rewriter.report(node, "sum of absolute values, as OpenVINO reads no axes of ReduceL1")
            axes, kept = list(node.attributes["axes"].as_ints()), attribute(node, "keepdims", 1)
            magnitudes = rewriter.before(node).Abs(data, shape=data.shape)
            rewriter.instead(node).ReduceSum(magnitudes, rewriter.constant(node, axes), keepdims=kept)
