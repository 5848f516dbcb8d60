"""Expand and Tile by no sizes: OpenVINO makes other shapes, refuses the model, or ends the process.

Expand(x, [])  ->  Identity(x)
"""

from __future__ import annotations

from ..graphs import nodes_of
from .rewriter import Rewriter


def no_sizes(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, where the number of sizes is known."""
    for node in nodes_of(rewriter.model, "Expand", "Tile"):
        sizes = node.inputs[1] if len(node.inputs) == 2 else None  # Tile-1 has a third input
        if sizes is not None and sizes.shape is not None and list(sizes.shape) == [0]:
            rewriter.instead(node).Identity(node.inputs[0])
            rewriter.report(node, "its input, as there are no sizes")
