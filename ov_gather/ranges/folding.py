"""Constant folding of OpenVINO and fusion of its CPU plugin that change results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import LARGEST_SIZE, Value, is_integer, is_of_sizes, name_of_number
from ov_gather.ranges.graph import Graph, Key, Step
from ov_gather.ranges.rules.call import Operands
from ov_gather.system.traversal import reachable

FUSING = ("Convolution", "Einsum", "GroupConvolution", "Interpolate", "MatMul")
"""Operations, beside Reduce*, that the CPU plugin computes in f32 together with the integer arithmetic that follows."""
COMPUTED_ANEW = (
    *("Bucketize", "CumSum", "Multinomial", "NonMaxSuppression", "NonZero", "OneHot", "RandomUniform", "Range", "SearchSorted"),
    *("ShapeOf", "TopK", "Unique"),
)
"""Operations whose integers are not fused with what computes their operands. OpenVINO may drop or move most others."""


def results_of(graph: Graph, step: Step, call: Operands) -> Sequence[Value]:
    """Return the abstract outputs of a step that has a transfer function, including folding and fusion in the CPU plugin.

    1. Abs of a vector that is computed of constants or sizes is dropped: abs(-([2])) = [-2], but abs(-(2)) = 2.
    2. Divide of integers after a Reduce or MatMul is rounded to the nearest: ReduceMax([7]) / 2 = 4.
    3. Divide of integers by such a result may be computed with swapped operands: 2 / ReduceMax([7]) = 7 / 2.
    4. Broadcast to a static 0 may be dropped, so that an axis has its size before, 1: Broadcast([7] to [0]) + 1 = [8].
    """
    assert step.rule is not None
    found = step.rule(call)
    if not call.semantics.reads_out_of_bounds:
        return found
    if step.type == "Broadcast" or any(value is not None and _has_doubtful_size(value) for value in call.inputs):  # case 4
        found = [_maybe_not_empty(graph, key, call, value) for key, value in zip(step.outputs, found, strict=False)]
    if step.type == "Abs" and is_constant(graph, step.inputs[0]):  # case 1
        return [_maybe_negative(call, value) if value.shape is None or len(value.shape) == 1 else value for value in found]
    if step.type == "Divide" and is_integer(found[0].element_type):
        dividend, divisor = step.inputs
        if is_fused(graph, divisor):  # case 3
            return [call.output(elements=call.semantics.widest(found[0].element_type), parts=None)]
        if is_fused(graph, dividend):  # case 2
            return [_maybe_rounded_up(call, value) for value in found]
    return found


def _maybe_negative(call: Operands, value: Value) -> Value:
    return replace(value, elements=call.algebra.join(value.elements, -value.elements), parts=None)


def _maybe_rounded_up(call: Operands, value: Value) -> Value:
    above = call.algebra.add(value.elements, call.algebra.exact(1))
    return replace(value, elements=call.algebra.join(value.elements, above), parts=None)


def _has_doubtful_size(value: Value) -> bool:
    """Return True if a dimension is no dimension of an input, such as one that case 4 has named."""
    return value.shape is not None and not all(map(is_of_sizes, value.shape))


def _maybe_not_empty(graph: Graph, key: Key, call: Operands, value: Value) -> Value:
    """Return a value of unknown sizes, but for numbers other than 0, if its shape has a static 0."""
    if value.shape is None or all(dim.value != 0 for dim in value.shape):
        return value
    dims = list(value.shape)
    for axis, dim in enumerate(dims):
        if not dim.value:  # 0; or open, and then OpenVINO may set it to 0 beside another
            name = name_of_number(f"{graph.name_of(key)}#{key} along {axis}")  # display names may occur twice
            call.algebra.sizes.set_bounds(name, (0, LARGEST_SIZE))
            dims[axis] = Polynomial.name(name)
    return replace(value, shape=tuple(dims), parts=None)


def is_fused(graph: Graph, key: Key | None) -> bool:
    """Return True if integers may be computed together with a fusing operation, in a body maybe: OpenVINO may inline it."""

    def integers(key: Key) -> list[Key]:
        step = graph.step_of(key)
        given = () if step is None or step.type in COMPUTED_ANEW else step.inputs
        return [one for one in given if one is not None and is_integer(graph.declared(one).element_type)]

    def fuses(key: Key) -> bool:
        step = graph.step_of(key)
        if step is None:  # an open value that is no input of the model arrives in a body
            return graph.declared(key).elements.is_any and key not in graph.inputs.values()
        return step.type.startswith("Reduce") or step.type in FUSING or bool(step.bodies)

    return key is not None and is_integer(graph.declared(key).element_type) and _leads_to(fuses, key, integers, graph, "fused")


def is_constant(graph: Graph, key: Key | None) -> bool:
    """Return True if a tensor depends on constants and shapes alone."""

    def inputs_of(key: Key | None) -> Sequence[Key | None]:
        step = None if key is None else graph.step_of(key)
        return () if step is None or step.reads_shapes_only else step.inputs

    def is_open(key: Key | None) -> bool:
        step = None if key is None else graph.step_of(key)
        if key is None or step is None:
            return key is not None and graph.declared(key).elements.is_any
        return not step.reads_shapes_only and bool(step.bodies or not step.inputs)

    return not _leads_to(is_open, key, inputs_of, graph, "open")


_answers: WeakKeyDictionary[Graph, dict[tuple[str, Key | None], bool]] = WeakKeyDictionary()
"""Answers for each graph, by question and tensor, so that a chain of n divisions is walked once, and not n times."""


def _leads_to(
    found: Callable[[Any], bool], key: Key | None, next_of: Callable[[Any], Sequence[Any]], graph: Graph, question: str
) -> bool:
    """Return True if a tensor from which this one is computed has a property."""
    answers = _answers.setdefault(graph, {})
    seen = []
    for one in reachable([key], lambda one: () if answers.get((question, one)) is False else next_of(one)):
        answer = answers.get((question, one))
        if answer or (answer is None and found(one)):
            answers[question, key] = True
            return True
        seen.append((question, one))
    answers.update(dict.fromkeys(seen, False))
    return False
