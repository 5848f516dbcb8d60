"""What OpenVINO folds, or its CPU plugin fuses, otherwise than it computes the operations one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.values import Value, is_integer
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.rules.call import Call

FUSING = ("Convolution", "GroupConvolution", "Interpolate", "MatMul")
"""Beside the Reduce operations, those that the CPU plugin computes in f32 together with element-wise operations behind them."""
FUSED = (
    *("Abs", "Add", "Clamp", "Convert", "Divide", "FloorMod", "Identity", "Maximum", "Minimum", "Mod", "Multiply", "Negative"),
    *("Power", "ReLU", "Relu", "Reshape", "Sign", "Squeeze", "Subtract", "Transpose", "Unsqueeze"),
)
"""What the plugin computes together with one of them, or OpenVINO moves out of the way."""


def results_of(graph: Graph, step: Step, call: Call) -> Sequence[Value]:
    """Return what is known of the outputs of a step that has a rule, with what the CPU plugin does to it, if that executes it.

    1. Abs of a vector that is computed of constants or sizes is dropped: abs(-([2])) = [-2], but abs(-(2)) = 2.
    2. Divide of integers behind a Reduce or MatMul is rounded to the nearest: ReduceMax([7]) / 2 = 4, and 2 / ReduceMax([7])
       is 7 / 2.
    """
    assert step.rule is not None
    found = step.rule(call)
    if not call.semantics.is_memory_read:
        return found
    if step.type == "Abs" and is_constant(graph, step.inputs[0]):
        return [_maybe_negative(call, value) if value.shape is None or len(value.shape) == 1 else value for value in found]
    if step.type == "Divide" and is_integer(found[0].element_type):
        dividend, divisor = step.inputs
        if _is_fused(graph, divisor):
            return [call.output(elements=call.semantics.widest(found[0].element_type), parts=None)]
        if _is_fused(graph, dividend):
            return [_maybe_rounded_up(call, value) for value in found]
    return found


def _maybe_negative(call: Call, value: Value) -> Value:
    return replace(value, elements=call.algebra.hull(value.elements, -value.elements), parts=None)


def _maybe_rounded_up(call: Call, value: Value) -> Value:
    above = call.algebra.add(value.elements, call.algebra.exact(1))
    return replace(value, elements=call.algebra.hull(value.elements, above), parts=None)


def _is_fused(graph: Graph, key: Key | None) -> bool:
    """Return True for an output of what fuses, or of element-wise operations behind it."""
    seen, waiting = set[Key | None](), [key]
    while waiting:
        key = waiting.pop()
        step = None if key is None or key in seen else graph.step_of(key)
        seen.add(key)
        if step is None:
            continue
        if step.type.startswith("Reduce") or step.type in FUSING:
            return True
        if step.type in FUSED:
            waiting += step.inputs
    return False


def is_constant(graph: Graph, key: Key | None) -> bool:
    """Return True if constants and shapes alone determine a tensor."""
    seen, waiting = {key}, [key]
    while waiting:
        key = waiting.pop()
        if key is None:
            continue
        step = graph.step_of(key)
        if step is None:
            if graph.declared(key).elements.is_any:
                return False
            continue
        if step.looks_at_shapes:
            continue
        if step.bodies or not step.inputs:
            return False
        waiting += [source for source in step.inputs if source not in seen]
        seen.update(step.inputs)
    return True
