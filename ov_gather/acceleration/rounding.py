"""This module tells where a model that OpenVINO computes in bf16 or f16 may round elsewhere once its gathers were replaced.

In f32 nothing changes. In less, a value is rounded between operations that OpenVINO does not fuse. Over Gather-8 it fuses
operations that it does not fuse over GatherElements, and before and behind ours it changes the precision.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from ov_gather.acceleration.graph import is_gather, operation, readers
from ov_gather.extension.python_api import Node, Output
from ov_gather.ops.meanings import OPENVINO, Selection, operators

_MOVES = operators(OPENVINO, lambda meaning: meaning.rearranges)
"""Operations that round nothing. Convert does, but as before, whatever is fused. Select is not one: OpenVINO fuses it."""

IN_WHOLE = operators(
    OPENVINO,
    lambda meaning: (
        meaning.sources == (0,) and meaning.selection in (Selection.IN_ORDER, Selection.REORDERED) and not meaning.converts
    ),
)
"""Operations whose output holds each element of their data once, and nothing else."""


def rounds_elsewhere(gather: Node) -> bool:
    """Tell whether this may be so for a gather, which has taken the place of another.

    Of numbers that are given and only moved, ours keeps each bit. Of them Gather-8 does so as long as nothing is computed
    behind it: OpenVINO moves such an operation before the Gather, where it reads what is not rounded yet.
    """
    if not is_gather(gather) or not gather.get_output_element_type(0).is_real():
        return False
    if is_computed(gather.input_value(0)):
        return True
    return operation(gather) == "Gather-8" and not stays_given(gather)


def stays_given(gather: Node) -> bool:
    """Tell whether what is gathered is only moved then, until it leaves the model."""
    return goes_out(gather, _MOVES)


def is_computed(value: Output) -> bool:
    """Tell whether arithmetic is among what makes a value, not counting what makes the indices that it is gathered by."""
    left, seen = [value.get_node()], set()
    while left:
        node = left.pop()
        if node.get_instance_id() in seen or node.get_input_size() == 0:
            continue
        seen.add(node.get_instance_id())
        if node.get_type_name() not in _MOVES:
            return True
        left += [value.get_node() for value in node.input_values() if value.get_element_type().is_real()]
    return False


FUSED_OVER = "OpenVINO would fuse what is behind a Gather with what is before, and the last bit may differ"
"""Why a GatherElements stays for which `is_fused_over` says that."""


def is_fused_over(data: Output, gathered: Node) -> bool:
    """Tell whether OpenVINO would fuse what is computed from `gathered`, a Gather-8 of `data`, with what computes `data`. Fused
    they may differ, also in f32."""
    return is_computed_before(gathered) and is_computed(data)


def is_computed_before(gathered: Node) -> bool:
    """Tell whether OpenVINO would move what is computed from `gathered`, a Gather-8, before it: operations on single elements,
    of one value and maybe numbers."""
    while gathered.get_output_element_type(0).is_real() and len(readers(gathered)) == 1:
        (gathered,) = readers(gathered)
        if gathered.get_type_name() not in ("Gather", *IN_WHOLE):
            computed = [value for value in gathered.input_values() if not _is_number(value)]
            return len(computed) == 1 and gathered.get_type_name() not in ("Concat", "Result")
    return False


def _is_number(value: Output) -> bool:
    return bool(value.get_node().get_type_name() == "Constant" and prod(value.get_shape()) == 1)


def goes_out(source: Node, moves: Collection[str]) -> bool:
    """Tell whether nothing is made of the output of a node but outputs of the model, and that by operations of these types."""
    left, seen = [port.get_node() for port in source.output(0).get_target_inputs()], set()
    while left:
        node = left.pop()
        if node.get_instance_id() in seen or node.get_type_name() == "Result":
            continue
        seen.add(node.get_instance_id())
        if node.get_type_name() not in moves:
            return False
        left += [port.get_node() for value in node.outputs() for port in value.get_target_inputs()]
    return True
