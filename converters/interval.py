"""Bounds of integers, and their algebra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import onnx_ir

Dim = int | onnx_ir.SymbolicDim

LARGEST_SIZE = 2**31 - 1  # of a tensor, in elements


@dataclass(frozen=True)
class Interval:
    """The integers from lo to hi, both included."""

    lo: int
    hi: int
    # At most the size of the open dimension of this name plus this number.
    bound: tuple[str, int] | None = None
    # Computed from open sizes of tensors and constants alone.
    of_sizes: bool = False

    def indexes(self, dim: Dim) -> bool:
        """Tell whether each integer is an index of an axis of this size, counted from its start or its end."""
        if isinstance(dim, int):
            return -dim <= self.lo and self.hi < dim
        return self.lo >= 0 and self.bound is not None and self.bound[0] == dim.value and self.bound[1] < 0

    def plus(self, number: int) -> Interval:
        """Return the integers of this interval, a number added to each."""
        bound = None if self.bound is None else (self.bound[0], self.bound[1] + number)
        return replace(self, lo=self.lo + number, hi=self.hi + number, bound=bound)


def every_value(dtype: onnx_ir.DataType) -> Interval | None:
    """Return all integers of an element type; None if it has others."""
    if dtype == onnx_ir.DataType.BOOL:
        return Interval(0, 1)
    if not dtype.is_integer():
        return None
    bits = dtype.bitwidth
    return Interval(-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.is_signed() else Interval(0, (1 << bits) - 1)


def of_size(dim: Dim) -> Interval:
    """Return the size of a dimension."""
    if isinstance(dim, int):
        return Interval(dim, dim)
    return Interval(0, LARGEST_SIZE, None if dim.value is None else (dim.value, 0), of_sizes=True)


def positions(dim: Dim) -> Interval:
    """Return the indices of an axis of this size."""
    return replace(of_size(dim).plus(-1), lo=0, hi=max(of_size(dim).hi - 1, 0), of_sizes=False)


def union(given: Iterable[Interval | None]) -> Interval | None:
    """Return the least interval around all; None if there is none, or one of them is not known."""
    intervals = list(given)
    known = [interval for interval in intervals if interval is not None]
    if not known or len(known) < len(intervals):
        return None
    bound = known[0].bound if all(interval.bound == known[0].bound for interval in known) else None
    lo, hi = min(interval.lo for interval in known), max(interval.hi for interval in known)
    return Interval(lo, hi, bound, from_sizes(known))


def from_sizes(operands: Sequence[Interval]) -> bool:
    """Tell whether what is computed from these is computed from open sizes of tensors and constants alone."""
    constants = [abs(operand.lo) <= LARGEST_SIZE and operand.lo == operand.hi for operand in operands if not operand.of_sizes]
    return all(constants) and len(constants) < len(operands)
