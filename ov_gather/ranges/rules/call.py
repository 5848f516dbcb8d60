"""Transfer functions: their operands, and the behaviour of the runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from ov_gather.ir.element_types import BOOLEAN, I32, ElementType
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Shape, Value, every_value, is_integer


@dataclass(frozen=True, slots=True)
class Semantics:
    """The behaviour of a runtime where it departs from mathematics or from the declared types.

    Attributes:
        integer: the type in which all integers are computed, wrapping around; None if each keeps its own type.
        exact_integers: magnitude up to which all integer arithmetic is exact; larger integers may pass through float32.
        float_error: relative error of one floating-point operation.
        reads_out_of_bounds: True if an index out of bounds, or an operation on an empty axis, yields arbitrary memory; False if
            such a run ends with an error.
        rounds_bytes: True if quotients of 8-bit integers are rounded to the nearest: 255 / 2 = 128.
    """

    integer: ElementType | None
    exact_integers: int
    float_error: float
    reads_out_of_bounds: bool
    rounds_bytes: bool = False

    def widest(self, element_type: ElementType | None) -> Interval:
        """Return the range of a computed tensor of this type."""
        if self.integer is None or not is_integer(element_type):
            return every_value(element_type)
        # A boolean is a byte, which a conversion may have set to any number.
        return Interval(0, 255) if element_type is BOOLEAN else every_value(self.integer)

    def narrows(self, value: Value) -> bool:
        """Return True if this may be an input whose wider values (64 bits) reach a Convert before the runtime narrows them."""
        widest, given = self.widest(value.element_type), every_value(value.element_type)
        is_bound = value.elements.low <= widest.low or value.elements.high >= widest.high
        return is_bound and (given.low < widest.low or given.high > widest.high)


ONNX = Semantics(integer=None, exact_integers=1 << 64, float_error=2**-22, reads_out_of_bounds=False)
CONVERTED = Semantics(integer=None, exact_integers=1 << 24, float_error=2**-22, reads_out_of_bounds=False)
"""The CPU plugin, restricted to runs that ONNX defines and whose values fit in 32 bits."""
CPU_PLUGIN = Semantics(integer=I32, exact_integers=1 << 24, float_error=2**-22, reads_out_of_bounds=True, rounds_bytes=True)


@dataclass(slots=True)  # not frozen: an analysis makes many
class Operands:
    """The operands of a transfer function.

    Attributes:
        inputs: the abstract value of each operand; None if an optional one is absent.
        outputs: the declared value of each output, with a name for each dynamic dimension.
        is_exact: True if no operand is computed in float32 together with this operation, so that it compares integers exactly.
    """

    algebra: Algebra
    semantics: Semantics
    inputs: Sequence[Value | None]
    outputs: Sequence[Value]
    is_exact: bool = False

    def value(self, position: int) -> Value | None:
        """Return an operand; None if it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def operand(self, position: int) -> Value:
        """Return an operand. Raises UndeterminedError if it is absent."""
        value = self.value(position)
        if value is None:
            raise UndeterminedError
        return value

    def shape(self, position: int, rank: int = 0) -> Shape:
        """Return the shape of an operand. Raises UndeterminedError if it has fewer than `rank` axes, or is unknown."""
        shape = self.operand(position).shape
        if shape is None or len(shape) < rank:
            raise UndeterminedError
        return shape

    def axis(self, axis: int | None) -> int:
        """Return an axis of the first operand, counted from the front. Raises UndeterminedError if it is unknown or invalid."""
        rank = len(self.shape(0))
        if axis is None or not -rank <= axis < rank:
            raise UndeterminedError
        return axis % rank

    def dims(self, position: int) -> list[Polynomial] | None:
        """Return the elements of a vector or scalar, such as a computed shape; None unless each is exactly one polynomial."""
        value = self.value(position)
        if value is None or value.shape is None or len(value.shape) > 1:
            return None
        intervals = value.along(0) if value.shape else (value.elements,)
        found = [interval.exactly for interval in intervals or ()]
        return None if intervals is None or None in found else [dim for dim in found if dim is not None]

    def integers(self, position: int) -> list[int] | None:
        """Return the elements of a vector or scalar; None unless each is exactly one number."""
        dims = self.dims(position)
        found = [dim.value for dim in dims or () if dim.value is not None]
        return found if dims is not None and len(found) == len(dims) else None

    def integer(self, position: int) -> int | None:
        """Return the only element of an operand, such as an axis; None if unknown."""
        found = self.integers(position)
        return found[0] if found is not None and len(found) == 1 else None

    def output(self, value: Value | None = None, position: int = 0, **changes: Any) -> Value:
        """Build an output of the declared type from `value`, without its peak, or from the declared output; apply `changes`."""
        declared = self.outputs[position]
        known = replace(declared if value is None else value, element_type=declared.element_type, peak=-inf)
        return replace(known, **changes)

    def bounded(self, elements: Interval, shape: Shape | None = None, position: int = 0) -> Value:
        """Build an output of integers with these bounds, in the declared shape or another."""
        declared = self.outputs[position]
        return replace(declared, elements=elements, shape=declared.shape if shape is None else shape, may_be_nan=False)


TransferFunction = Callable[[Operands], Sequence[Value]]
"""A transfer function: from the operands to the abstract values of the outputs. It may raise UndeterminedError."""


class UndeterminedError(Exception):
    """Raised by a transfer function if nothing but what is declared is known of the outputs."""


def or_declared(rule: TransferFunction) -> TransferFunction:
    """Return the transfer function, with the declared outputs where it raises UndeterminedError."""

    def apply(call: Operands) -> Sequence[Value]:
        try:
            return rule(call)
        except UndeterminedError:
            return list(call.outputs)

    return apply
