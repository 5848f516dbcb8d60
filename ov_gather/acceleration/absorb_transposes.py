"""Fusion of our GatherElements with a Transpose of its last two dimensions.

before: ov_gather.GatherElements -> Transpose([0, ..., -1, -2])
after:  ov_gather.GatherElements(transpose=true)
"""

from __future__ import annotations

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import constant, nodes_of, operation, ours, readers, replace_node
from ov_gather.extension.python_api import Model, Node


def absorb_transposes(model: Model, tracker: Tracker) -> None:
    """Fuse the Transpose, unless a MatMul reads it: OpenVINO fuses that pair itself."""
    for gather in nodes_of(model, "ov_gather.GatherElements"):
        behind, attributes = readers(gather), gather.get_attributes()
        if len(behind) != 1 or tracker.leaves(gather) or attributes["transpose"] or attributes["lanes"]:
            continue
        if gather.get_output_partial_shape(0).rank.is_dynamic or not _swaps_the_last_two(behind[0]):
            continue
        (transpose,) = behind
        if any(reader.get_type_name() == "MatMul" for reader in readers(transpose)):
            tracker.kept(gather, "the Transpose behind it is a part of a MatMul")
            continue
        transposed = ours("GatherElements", gather.input_values(), {**attributes, "transpose": True})
        replace_node(transpose, transposed)
        tracker.done(gather, "and the Transpose behind it", transposed)


def _swaps_the_last_two(node: Node) -> bool:
    order = constant(node.input_value(1)) if operation(node) == "Transpose-1" else None
    if order is None or order.size < 2:
        return False
    *others, last = range(order.size)
    return bool(order.tolist() == [*others[:-1], last, others[-1]])
