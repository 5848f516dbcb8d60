"""What a Gather reads out of bounds in the CPU plugin, which moves the arithmetic that follows above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.graph.protocol import Node
from ov_gather.ops.table import OPENVINO, Trait, where
from ov_gather.ranges.algebra.values import Value, is_integer
from ov_gather.ranges.doubts import REMOVABLE, is_constant, weakened
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.rules.call import Operands

_LIFTED = where(OPENVINO, lambda op: Trait.LIFTED in op.traits)
"""Arithmetic that OpenVINO may move above a Gather, if the other operand is constant."""
_PASSED = REMOVABLE | {"Einsum"}
"""Operations above which arithmetic is moved, or that OpenVINO drops if they change nothing."""


def results_of(graph: AnalysedGraph, step: Node, call: Operands) -> Sequence[Value]:
    """Return the abstract outputs of a step: those of its rule, weakened by faults, and of reading out of bounds.

    Arithmetic with a constant may be applied to the data of a Gather, and not to what that reads out of bounds:
    Clamp(Gather([[5]], 7), 3, 9) = 0.
    """
    rule = graph.rule(step) or _declared
    if not call.semantics.reads_out_of_bounds:
        return rule(call)
    found = weakened(graph, step, call, rule)
    return [_read_outside(graph, step, call, value) for value in found]


def _declared(call: Operands) -> Sequence[Value]:
    return call.outputs


def _read_outside(graph: AnalysedGraph, step: Node, call: Operands, found: Value) -> Value:
    """Include what a Gather may have read out of bounds, as long as OpenVINO moves what follows above it."""
    if step.type == "Gather" and found.outside is not None:
        return found
    given = [value.outside for value in _data_of(step, call) if value is not None and value.outside is not None]
    if not given or not _is_passed(graph, step, call):
        return found if found.outside is None else replace(found, outside=None)
    outside = call.algebra.join(*given)
    if step.type not in _LIFTED:
        return replace(found, outside=outside)
    elements = call.algebra.join(found.elements, outside)
    may_be_nan = found.may_be_nan or (outside.is_any and not is_integer(found.element_type))
    return replace(found, elements=elements, parts=None, may_be_nan=may_be_nan, outside=outside)


def _data_of(step: Node, call: Operands) -> Sequence[Value | None]:
    """Return the operands whose elements a step moves, or computes with."""
    if step.type == "Select":
        return call.inputs[1:]
    return call.inputs if step.type == "Concat" or step.type in _LIFTED else call.inputs[:1]


def _is_passed(graph: AnalysedGraph, step: Node, call: Operands) -> bool:
    """Return True if the step may be applied before a Gather, or what follows before the step."""
    if step.type in _LIFTED:
        return len(step.inputs) == 1 or any(is_constant(graph, key) for key in step.inputs)
    if step.type == "Concat":  # OpenVINO drops operands without elements
        return sum(value is None or not _is_empty(value) for value in call.inputs) == 1
    return step.type in _PASSED


def _is_empty(value: Value) -> bool:
    return value.shape is not None and any(dim.value == 0 for dim in value.shape)
