"""Nodes that OpenVINO's CPU plugin computes differently from ONNX.

It narrows integers, takes them for signed ones, or rounds them. It computes float16 as float32, and drops Casts to float16.
What an IR shows as well is found in the converted model: see repairs.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.ir.element_types import BF16, BOOLEAN, F16, F32, F64, I32, U32, ElementType
from ov_gather.ops.onnx_nodes import GATHERS, SCATTERS
from ov_gather.ops.table import ONNX, OpKind, Trait, where
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import every_value
from ov_gather.system.traversal import reachable

from .errors import describe
from .graphs import bodies_of, constant_of, is_constant, is_default, nodes_of, uses_of
from .moves import OF_SHAPES, carries_elements, element_type_of, is_index, moves
from .ranges import Ranges

INT32 = np.iinfo(np.int32)
FLOATS = (BF16, F16, F32, F64)
_EXACT = 2**24  # float32 represents all integers up to this one
_MODULAR = where(ONNX, lambda op: Trait.MOD32 in op.traits)
_WRAPPING = where(ONNX, lambda op: Trait.I16 in op.traits)
_WRAPPED = "i16 and u16 are computed as i32, values beyond do not wrap around"
_SIGNED = "u32 is computed as i32, values from 2^31 on are negative"
_ROUNDED = "OpenVINO's CPU plugin computes integers as f32, which rounds those beyond 2^24"
_TIES = "OpenVINO's CPU plugin multiplies by a reciprocal: a number halfway between two levels may become the other one"
_QUOTIENT = "OpenVINO's CPU plugin multiplies by a reciprocal: a quotient near an integer, or halfway, may become the next one"
"""An exact quotient, with the residual of the product, takes 4 to 5 times as long: see docs/evidence/validation.md."""
_QUIETED = "OpenVINO's CPU plugin makes signalling NaNs of float16 quiet"
_QUIETING = where(ONNX, lambda op: Trait.QUIETS in op.traits)
"""Operators that only move values, but are not moved in lanes."""


def inexact_nodes(model: onnx_ir.Model, ranges: Ranges) -> Iterator[tuple[onnx_ir.Node, str]]:
    """Yield each node that the plugin computes differently from ONNX, and how it departs."""
    yield from ((node, _ROUNDED) for node in nodes_of(model, "Trilu") if is_rounded(node, ranges))
    yield from ((node, _QUIETED) for node in nodes_of(model, *_QUIETING) if _takes_halves(node))
    yield from ((node, _UNROUNDED) for node in nodes_of(model, *_CASTS) if is_unrounded(node, ranges))
    yield from ((node, _TIES) for node in nodes_of(model, "DynamicQuantizeLinear", "QuantizeLinear") if _computes_scale(node))
    yield from ((node, _QUOTIENT) for node in nodes_of(model, *_ROUNDING) if _rounds_quotient(node))
    yield from ((node, _SIGNED) for node in model.graph.all_nodes() if is_signed(node, ranges))
    yield from ((node, _WRAPPED) for node in model.graph.all_nodes() if is_wrapped(node, ranges))


def narrowing(element_type: ElementType) -> str:
    """Return the reason reported for values of a type that OpenVINO's CPU plugin narrows."""
    consequence = "rounded" if element_type is F64 else "values beyond wrap around"
    return f"{element_type} is computed as {NARROWED_BY_CPU[element_type]}, {consequence}"


def stays_within(value: onnx_ir.Value) -> bool:
    """Return True if all integers computed from a value fit in 32 bits whenever the value does."""
    return all(
        is_index(node, position)
        or is_default(node, OF_SHAPES)
        or moves(node)
        or not any(element_type_of(output) in NARROWED_BY_CPU for output in node.outputs)
        for node, position in uses_of(value, carries_elements)
    )


def seeing_high_bits(value: onnx_ir.Value, ranges: Ranges) -> str | None:
    """Return what tells 64-bit integers from their lower 32 bits: a node, or an output of the model; None if nothing does.

    Indices and sizes do not: those that are valid fit in 32 bits. Comparisons with small numbers count as such, too. Moves pass
    integers on; so does arithmetic modulo 2^32, before which comparisons count.
    """

    def passed(item: tuple[onnx_ir.Value, bool]) -> list[tuple[onnx_ir.Value, bool]]:
        value, is_moved = item
        found = []
        for node, position in value.uses():
            if carries_elements(node, position) or is_default(node, _MODULAR):
                found += [(output, is_moved and not is_default(node, _MODULAR)) for output in node.outputs]
        return found

    def reads_input(node: onnx_ir.Node) -> bool:
        """Return True for a Cast of the value itself, an input, to a floating-point type: the plugin casts all 64 bits."""
        made = element_type_of(node.outputs[0])
        return value.is_graph_input() and is_default(node, ("Cast",)) and node.inputs[0] is value and made in (F16, F32)

    for reached, is_moved in reachable([(value, True)], passed):
        if reached.is_graph_output():
            return f"output '{reached.name}'"
        for node, position in reached.uses():
            is_passed = carries_elements(node, position) or is_default(node, (*_MODULAR, *OF_SHAPES))
            is_harmless = is_index(node, position) or _is_size(node, position) or reads_input(node)
            if not is_passed and not is_harmless and not (is_moved and _is_compared_with_small(node, position, ranges)):
                return describe(node)
    return None


_COMPARISONS = where(ONNX, lambda op: op.kind is OpKind.COMPARISON)
_SIZES = where(ONNX, lambda op: op.rule in ("reshape", "broadcast", "tile", "filled"))


def _is_size(node: onnx_ir.Node, position: int) -> bool:
    """Return True for a shape, repeats, or a number of iterations."""
    return (is_default(node, ("Loop",)) and position == 0) or (is_default(node, _SIZES) and position == len(node.inputs) - 1)


def _is_compared_with_small(node: onnx_ir.Node, position: int, ranges: Ranges) -> bool:
    """Return True for a comparison with numbers that fit in 32 bits, sizes included."""
    if not is_default(node, _COMPARISONS):
        return False
    other = ranges.of(node.inputs[1 - position])
    return other is not None and not exceeds_int32(other)


def is_signed(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a node computes with u32 values beyond int32, and their sign matters."""

    def is_large(value: onnx_ir.Value | None) -> bool:
        if element_type_of(value) is not U32:
            return False
        interval = ranges.of(value)
        return interval is None or interval.high > INT32.max

    is_harmless = moves(node) or bodies_of(node) or is_default(node, (*_MODULAR, *OF_SHAPES, *GATHERS, *SCATTERS))
    return not is_harmless and node.domain == "" and any(map(is_large, node.inputs))


def is_rounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a Trilu may have elements that float32 does not represent."""
    element_type = element_type_of(node.inputs[0])
    found = ranges.of(node.inputs[0])  # at 64 bits, the narrowing is reported instead
    return element_type in (I32, U32) and (found is None or found.low <= -_EXACT or found.high >= _EXACT)


def exceeds_int32(interval: Interval | None) -> bool:
    """Return True if a number of an interval may not fit in 32 bits."""
    return interval is None or interval.low < INT32.min or interval.high > INT32.max


def is_wrapped(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if 16-bit integers may wrap around at a node; OpenVINO's CPU plugin computes them as i32."""
    element_type = element_type_of(node.outputs[0])
    if element_type is None or element_type.name not in ("i16", "u16") or not is_default(node, (*_WRAPPING, "Cast")):
        return False
    is_cast = node.op_type == "Cast"
    widest, found = every_value(element_type), ranges.of(node.inputs[0] if is_cast else node.outputs[0])
    if found is None:  # a Cast of floats, which ONNX leaves undefined outside the type's range
        return False
    if is_cast:
        return found.low < widest.low or found.high > widest.high
    return found.low <= widest.low and found.high >= widest.high


_CASTS = where(ONNX, lambda op: op.meaning.converts)
_UNROUNDED = "OpenVINO's CPU plugin computes float16 as float32: this Cast neither rounds nor overflows"
_EXACT_IN_FLOAT16 = 2**11  # float16 represents all integers up to this one
_WITHIN_FLOAT16 = (onnx_ir.DataType.BOOL, onnx_ir.DataType.INT8, onnx_ir.DataType.UINT8, onnx_ir.DataType.FLOAT16)


def is_unrounded(node: onnx_ir.Node, ranges: Ranges) -> bool:
    """Return True if a Cast to float16 may round, and a node computes another type from its values, directly or after moves.

    Float16 arithmetic on its values does not count: in models that are float16 throughout, the plugin only rounds less.
    """
    if not is_default(node, _CASTS) or element_type_of(node.outputs[0]) is not F16:
        return False
    source = node.inputs[0]
    if source is None or source.dtype in _WITHIN_FLOAT16 or constant_of(source) is not None:
        return False
    interval = ranges.of(source)
    if interval is not None and interval.low >= -_EXACT_IN_FLOAT16 and interval.high <= _EXACT_IN_FLOAT16:
        return False
    return any(_leaves(*use) for use in uses_of(node.outputs[0], carries_elements))


def _leaves(node: onnx_ir.Node, position: int) -> bool:
    """Return True if a node computes a type other than float16 from the elements of an input."""
    if bodies_of(node) or is_default(node, OF_SHAPES) or carries_elements(node, position):
        return False
    if is_default(node, ("CastLike",)) and position == 1:  # only its type counts
        return False
    return any(element_type_of(output) not in (None, F16) for output in node.outputs)


def _computes_scale(node: onnx_ir.Node) -> bool:
    """Return True if a quantisation computes its scale. With a constant one, only numbers halfway, or nearly so, are wrong."""
    return node.op_type == "DynamicQuantizeLinear" or (node.inputs[1] is not None and constant_of(node.inputs[1]) is None)


_ROUNDING = where(ONNX, lambda op: op.rule in ("round_up", "round_down", "nearest")) | {*_CASTS}


def _rounds_quotient(node: onnx_ir.Node) -> bool:
    """Return True if a node makes integers of a quotient of floating-point numbers, unless the divisor is a power of two."""
    kind, source = element_type_of(node.outputs[0]), node.inputs[0]
    if source is None or (node.op_type in _CASTS and (kind is None or kind in (*FLOATS, BOOLEAN))):
        return False
    divide = source.producer()
    if divide is None or not is_default(divide, ("Div",)) or element_type_of(source) not in FLOATS or is_constant(source):
        return False
    divisor = None if divide.inputs[1] is None else constant_of(divide.inputs[1])
    return divisor is None or bool((np.abs(np.frexp(divisor.numpy().astype(np.float64))[0]) != 0.5).any())


def computed(model: onnx_ir.Model, value: onnx_ir.Value) -> NDArray[Any] | None:
    """Return a value computed from constants alone, which OpenVINO folds exactly before it narrows; None for others."""
    try:
        graph = onnx_ir.convenience.extract(model.graph, [], [value])
        proto = onnx_ir.to_proto(onnx_ir.Model(graph, ir_version=model.ir_version))
        (array,) = ReferenceEvaluator(proto).run(None, {})
    except Exception:  # it depends on an input, or ONNX's reference lacks an operator
        return None
    return np.asarray(array)


def _takes_halves(node: onnx_ir.Node) -> bool:
    return any(value is not None and value.dtype is onnx_ir.DataType.FLOAT16 for value in (*node.inputs, *node.outputs))
