"""Where a model that OpenVINO computes in bf16 or f16 may round elsewhere once its gathers were replaced.

In f32 nothing changes. In less, a value is rounded between operations that OpenVINO does not fuse. Over Gather-8 it fuses
operations that it does not fuse over GatherElements, and before and behind ours it changes the precision.
"""

from __future__ import annotations

from openvino import Node, Output

from ov_gather.acceleration.graph import is_gather, operation

_MOVES = ("Broadcast", "Concat", "Convert", "Reshape", "Split", "Squeeze", "StridedSlice", "Slice", "Tile", "Transpose")
MOVES = frozenset((*_MOVES, "Unsqueeze", "VariadicSplit", "Gather", "GatherElements", "GatherND"))
"""Operations that round nothing. Convert does, but as before, whatever is fused."""


def rounds_elsewhere(gather: Node) -> bool:
    """Whether this may be so for a gather, which has taken the place of another.

    Of numbers that are given and only moved, ours keeps each bit. Of them Gather-8 does so as long as nothing is computed
    behind it: OpenVINO moves such an operation before the Gather, where it reads what is not rounded yet.
    """
    if not is_gather(gather) or not gather.get_output_element_type(0).is_real():
        return False
    if _is_computed(gather.input_value(0)):
        return True
    return operation(gather) == "Gather-8" and not _goes_out(gather)


def _is_computed(value: Output) -> bool:
    """Whether arithmetic is among what makes a value, not counting what makes the indices that it is gathered by."""
    left, seen = [value.get_node()], set()
    while left:
        node = left.pop()
        if node.get_instance_id() in seen or node.get_input_size() == 0:
            continue
        seen.add(node.get_instance_id())
        if node.get_type_name() not in MOVES:
            return True
        left += [it.get_node() for it in node.input_values() if it.get_element_type().is_real()]
    return False


def _goes_out(gather: Node) -> bool:
    """Whether the outputs of the model are all that is made of it, by moves."""
    left, seen = [gather], set()
    while left:
        node = left.pop()
        if node.get_instance_id() in seen or node.get_type_name() == "Result":
            continue
        seen.add(node.get_instance_id())
        if node.get_type_name() not in MOVES:
            return False
        left += [port.get_node() for value in node.outputs() for port in value.get_target_inputs()]
    return True
