"""Faults of slices of one tensor, which OpenVINO replaces together."""

from __future__ import annotations

from itertools import islice, pairwise

from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, PatternGraph

Part = tuple[int, range]
"""The axis of a slice, and the positions that it takes along it."""


def _part(graph: PatternGraph, node: Node) -> Part | None:
    """Return what a StridedSlice of a static shape takes along its only axis that it does not take whole."""
    shape, masks = graph.shape(node), [node.integers(name) or [] for name in ("begin_mask", "end_mask")]
    given = [graph.constant(node, i) for i in (1, 2, 3)]
    limits = [array.ravel().tolist() for array in given if array is not None]
    if not shape.is_static or len(limits) < len(given):
        return None
    if any(1 in (node.integers(f"{name}_mask") or ()) for name in ("new_axis", "shrink_axis", "ellipsis")):
        return None
    parts = []
    for axis, (size, *bounds, step) in enumerate(zip(shape.sizes, *limits, strict=False)):
        first, last = (None if 1 in mask[axis : axis + 1] else bound for mask, bound in zip(masks, bounds, strict=True))
        taken = range(*slice(first, last, step).indices(size))
        if taken != range(size):
            parts.append((axis, taken))
    return parts[0] if len(parts) == 1 else None


def _backwards(graph: PatternGraph, node: Node) -> bool:
    """Return True for several elements in reverse, if other slices of the tensor take others, in steps of 1, and none twice.

    If one of them is an output of the model, all stay slices.
    """
    source, own = graph.source(node), _part(graph, node)
    if source is None or own is None or own[1].step != -1 or len(own[1]) < 2:
        return False
    others = list(islice((one for one in graph.readers(source) if one.type == "StridedSlice"), LAYERS))
    found = {_part(graph, one) for one in others}
    if None in found or len(found) < 2 or any(graph.is_output(one) for one in others):
        return False
    parts = [part for part in found if part is not None]
    if any(axis != own[0] or abs(taken.step) != 1 or not taken for axis, taken in parts):
        return False
    spans = sorted((min(taken), max(taken)) for _, taken in parts)
    return all(last < first for (_, last), (first, _) in pairwise(spans))


SLICES = (
    KnownFault(
        report="reversed_slice_beside_others",
        types=("StridedSlice",),
        occurs=_backwards,
        operands=4,
        instead="a StridedSlice in reverse, beside other slices of the same tensor, returns the elements in their order",
        remedy="use Slice, or leave a dimension open",
        taints=True,
    ),
)
