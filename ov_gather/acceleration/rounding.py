"""Rewrites of gathers that change how a model rounds in bf16 or f16; in f32 nothing changes.

In these types values are rounded between operations, unless OpenVINO fuses them. It fuses across Gather-8, but not across
GatherElements, and it changes the precision before and after our operations.
"""

from __future__ import annotations

from math import prod

from ov_gather.acceleration.graph import ancestors, descendants, is_gather, operation, readers, real_inputs
from ov_gather.acceleration.operators import gathers_slices, is_concat
from ov_gather.extension.python_api import Node, Output
from ov_gather.ops.table import ENDS, OPENVINO, where

_MOVES = where(OPENVINO, lambda op: op.meaning.rearranges)
"""Operations that do not round; and Convert, which rounds the same whatever is fused. Not Select, which OpenVINO fuses."""

IN_WHOLE = where(OPENVINO, lambda op: op.meaning.keeps_each)
"""Operations whose output holds each element of their data exactly once and nothing else."""


def rounds_elsewhere(gather: Node) -> bool:
    """Return True if replacing a gather by this one lets OpenVINO round differently in bf16 or f16.

    Our gathers keep every bit of data that are not computed. So does Gather-8, unless something is computed behind it: OpenVINO
    moves such an operation before the Gather, where it reads unrounded values.
    """
    if not is_gather(gather) or not gather.get_output_element_type(0).is_real():
        return False
    if is_computed(gather.input_value(0)):
        return True
    return operation(gather) == "Gather-8" and not stays_given(gather)


def stays_given(gather: Node) -> bool:
    """Return True if the gathered elements are only moved until they leave the model."""
    return all(node.get_type_name() in (*_MOVES, *ENDS) for node in descendants(gather))


def is_computed(value: Output) -> bool:
    """Return True if a value depends on arithmetic; that on the indices it is gathered by does not count."""
    return any(node.get_input_size() and node.get_type_name() not in _MOVES for node in ancestors([value], real_inputs))


FUSED_OVER = "OpenVINO would fuse what is behind a Gather with what is before, and the last bit may differ"
"""Reason reported for GatherElements that stay because of `would_fuse_across`."""


def would_fuse_across(data: Output, gathered: Node) -> bool:
    """Return True if OpenVINO would fuse across `gathered`, a Gather-8 of `data`: results may then differ, even in f32."""
    return is_computed_before(gathered) and is_computed(data)


def is_computed_before(gathered: Node) -> bool:
    """Return True if OpenVINO would move the operation behind `gathered`, a Gather-8, before it.

    It moves elementwise operations with one operand that is not a scalar constant.
    """
    while gathered.get_output_element_type(0).is_real() and len(readers(gathered)) == 1:
        (gathered,) = readers(gathered)
        if not gathers_slices(gathered) and gathered.get_type_name() not in IN_WHOLE:
            computed = [value for value in gathered.input_values() if not _is_number(value)]
            return len(computed) == 1 and not is_concat(gathered) and gathered.get_type_name() not in ENDS
    return False


def _is_number(value: Output) -> bool:
    return bool(value.get_node().get_type_name() == "Constant" and prod(value.get_shape()) == 1)
