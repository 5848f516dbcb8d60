"""What OpenVINO folds otherwise than its CPU plugin computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ov_gather.ranges.algebra.intervals import Algebra
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.graph import Graph, Key, Step


def with_folding(graph: Graph, algebra: Algebra, step: Step, found: Sequence[Value]) -> Sequence[Value]:
    """Return the results of a step on OpenVINO, which drops the Abs of a vector that is computed of constants or sizes.

    abs(-([2])) = [-2]; abs(-(2)) = 2
    """
    is_vector = any(value.shape is None or len(value.shape) == 1 for value in found)
    if step.type != "Abs" or not is_vector or not is_constant(graph, step.inputs[0]):
        return found
    return [replace(value, elements=algebra.hull(value.elements, -value.elements), parts=None) for value in found]


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
