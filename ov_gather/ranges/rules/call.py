"""A rule of the analysis is given the operands of one operation, and what the runtime does that executes it."""

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
    """Semantics say what a runtime does where mathematics and the text of the model leave off.

    Attributes:
        integer: the type that all integers have while they are computed, which wraps around; None where each has its own.
        exact_integers: numbers up to this are exact in all arithmetic on integers; greater ones may pass through float32.
        float_error: the relative error that one operation on floating-point numbers may make.
        is_memory_read: an index out of bounds yields whatever lies in memory, and so does what is computed of an empty axis;
            otherwise such a run ends with an error.
        rounds_bytes: quotients of 8-bit integers are rounded to the nearest integer, as 128 for 255 / 2.
    """

    integer: ElementType | None
    exact_integers: int
    float_error: float
    is_memory_read: bool
    rounds_bytes: bool = False

    def widest(self, element_type: ElementType | None) -> Interval:
        """Give all values that a computed tensor of a type may hold."""
        if self.integer is None or not is_integer(element_type):
            return every_value(element_type)
        # Booleans are bytes that a conversion may have filled with any number.
        return Interval(0, 255) if element_type is BOOLEAN else every_value(self.integer)

    def narrows(self, value: Value) -> bool:
        """Whether a tensor may be an input of which more bits than this keeps reach an operation that converts it at once."""
        widest, given = self.widest(value.element_type), every_value(value.element_type)
        is_bound = value.elements.low <= widest.low or value.elements.high >= widest.high
        return is_bound and (given.low < widest.low or given.high > widest.high)


ONNX = Semantics(integer=None, exact_integers=1 << 64, float_error=2**-22, is_memory_read=False)
CONVERTED = Semantics(integer=None, exact_integers=1 << 24, float_error=2**-22, is_memory_read=False)
"""What the CPU plugin does in the runs that ONNX gives a meaning, as long as no value needs more than 32 bits."""
CPU_PLUGIN = Semantics(integer=I32, exact_integers=1 << 24, float_error=2**-22, is_memory_read=True, rounds_bytes=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A Call is one operation with its operands.

    Attributes:
        inputs: what is known of each operand; None where an optional one is absent.
        outputs: each output as the model declares it, with a name for each open dimension.
    """

    algebra: Algebra
    semantics: Semantics
    inputs: Sequence[Value | None]
    outputs: Sequence[Value]

    def value(self, position: int) -> Value | None:
        """Give an operand; None where it is absent."""
        return self.inputs[position] if position < len(self.inputs) else None

    def dims(self, position: int) -> list[Polynomial] | None:
        """Give the elements of a vector or scalar where each of them is one polynomial: a constant, or a computed shape."""
        value = self.value(position)
        if value is None or value.shape is None or len(value.shape) > 1:
            return None
        intervals = value.along(0) if value.shape else (value.elements,)
        found = [interval.exactly for interval in intervals or ()]
        return None if intervals is None or None in found else [dim for dim in found if dim is not None]

    def integers(self, position: int) -> list[int] | None:
        """Give the elements of a vector or scalar where each of them is one number."""
        found = [None if dim is None else dim.value for dim in self.dims(position) or (None,)]
        return (
            [] if self.dims(position) == [] else None if None in found else [number for number in found if number is not None]
        )

    def integer(self, position: int) -> int | None:
        """Give the only element of an operand, such as an axis."""
        found = self.integers(position)
        return found[0] if found is not None and len(found) == 1 else None

    def output(self, value: Value | None = None, position: int = 0, **changes: Any) -> Value:
        """Give an output of its declared type: with what is known of another value but its peak, or of `changes`."""
        declared = self.outputs[position]
        known = replace(declared if value is None else value, element_type=declared.element_type, peak=-inf)
        return replace(known, **changes)

    def bounded(self, elements: Interval, shape: Shape | None = None, position: int = 0) -> Value:
        """Give an output of integers whose bounds are known, in the declared shape or another."""
        declared = self.outputs[position]
        return replace(declared, elements=elements, shape=declared.shape if shape is None else shape, may_be_nan=False)


Rule = Callable[[Call], Sequence[Value]]
"""From the operands of an operation to what is known of its outputs."""
