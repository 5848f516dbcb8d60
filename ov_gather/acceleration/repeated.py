"""Repeated indices: the smaller tensor that Broadcast, Tile or Concat repeats, and whether it can replace the larger one."""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.graph import constant, demands_same_shape, dims, identity, is_one, operation, same
from ov_gather.acceleration.operators import is_concat, is_converted, op_of
from ov_gather.extension.python_api import Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import Selection


def unrepeated(index: Output) -> Output:
    """Return the tensor that Broadcast, Tile or a Concat of equals repeats, in the rank and type of `index`; else `index`."""
    smaller, types = index, []
    while (inner := _converted(smaller) or _repeated(smaller)) is not None:
        types.append(smaller.get_element_type())
        smaller = inner
    if smaller.get_partial_shape() == index.get_partial_shape():
        return index
    for element_type in reversed(types):
        if smaller.get_element_type() != element_type:
            smaller = ops.convert(smaller, element_type.get_type_name()).output(0)
    return smaller


def why_not_exact(gather: Node, smaller: Output, axis: int) -> str:
    """Return the reason why `gather` by `smaller`, broadcast to data off the axis, would differ; empty if it would not.

    If indices differ from data off the axis, GatherElements-6 raises, and ours without same_shape gathers less.
    """
    have, want, given = dims(gather.input_value(0)), dims(gather.input_value(1)), dims(smaller)
    raises = demands_same_shape(gather)
    if have is None or want is None or given is None:
        return "the rank of data or indices is not known"
    for i, dim in enumerate(given):
        if i == axis:
            if not same(dim, want[i]):
                return "indices are repeated along the axis"
        elif not same(want[i], have[i]) and (dim.is_dynamic or is_one(dim) or not raises):
            return (
                f"dimension {i} of indices may differ from data's, which must {'raise' if raises else 'gather less'} as before"
            )
    return ""


def _converted(value: Output) -> Output | None:
    node = value.get_node()
    return node.input_value(0) if is_converted(node) else None


def _repeated(value: Output) -> Output | None:
    """Return the tensor that one node repeats along dimensions of 1, in the rank of `value`; None if it may do more."""
    node = value.get_node()
    if is_concat(node):
        first, *others = node.input_values()
        inner = first if all(_equal(first, other) for other in others) else None
    else:
        inner = _aligned(node) if op_of(node).meaning.selection is Selection.REPEATED else None
    before, after = (None if inner is None else dims(inner)), dims(value)
    if before is None or after is None:
        return None
    return inner if all(same(one, other) or is_one(one) for one, other in zip(before, after, strict=True)) else None


def _aligned(node: Node) -> Output | None:
    """Return the input of a Broadcast or Tile, unsqueezed to the rank of the output."""
    inner = node.input_value(0)
    before, after = dims(inner), dims(node.output(0))
    if before is None or after is None:
        return None
    missing = np.arange(len(after) - len(before))
    if node.get_attributes().get("mode") == "explicit":
        places = constant(node.input_value(2))
        if places is None:
            return None
        missing = np.setdiff1d(np.arange(len(after)), places)
    return ops.unsqueeze(inner, ops.constant(missing)).output(0) if missing.size else inner


def _equal(one: Output, other: Output) -> bool:
    """Return True if two values are the same, or reshapes of the same value to the same shape."""
    left, seen = [(one, other)], set()
    while left:
        one, other = left.pop()
        pair = identity(one), identity(other)
        if pair[0] == pair[1] or pair in seen or _equal_constants(one, other):
            continue
        seen.add(pair)
        first, second = one.get_node(), other.get_node()
        if not op_of(first).meaning.keeps_order or operation(first) != operation(second):
            return False
        if first.get_attributes() != second.get_attributes():
            return False
        left += zip(first.input_values(), second.input_values(), strict=True)
    return True


def _equal_constants(one: Output, other: Output) -> bool:
    left, right = constant(one), constant(other)
    if left is None or right is None:
        return False
    return bool(left.dtype == right.dtype and np.array_equal(left, right))
