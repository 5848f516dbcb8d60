"""Transfer function of Slice, whose starts, stops, steps and axes are operands."""

from __future__ import annotations

from collections.abc import Sequence

from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules import cutting, shaping
from ov_gather.ranges.rules.call import Operands

UNBOUNDED = 2**31 - 1
"""Stops from here on are the end of the axis."""


def slice_of(call: Operands, *, axes: int, steps: int) -> Sequence[Value]:
    """Infer Slice. Starts and stops are the second and third operand; `axes` and `steps` are the positions of the others.

    Absent axes are the first ones; absent steps are 1.
    """
    value, starts, stops = call.value(0), call.dims(1), call.dims(2)
    rank, count = None if value is None else value.rank, length_of(call, 1)
    chosen = list(range(count or 0)) if call.value(axes) is None else call.integers(axes)
    by = [1] * (count or 0) if call.value(steps) is None else call.integers(steps)
    if rank is None or chosen is None or count is None or any(not -rank <= axis < rank for axis in chosen):
        return shaping.elements_only(call)
    if starts is None or stops is None or by is None or not len(chosen) == len(starts) == len(stops) == len(by):
        return cutting.cut(call, [cutting.Cut(axis % rank, None, None, is_known=False) for axis in chosen])
    cuts = [
        cutting.Cut(axis % rank, start, end_of(stop, step), step)
        for axis, start, stop, step in zip(chosen, starts, stops, by, strict=True)
    ]
    return cutting.cut(call, cuts)


def length_of(call: Operands, position: int) -> int | None:
    """Return the number of elements of a vector; None if unknown."""
    value = call.value(position)
    return None if value is None or not value.shape else value.shape[0].value


def end_of(stop: Polynomial, step: int) -> Polynomial | None:
    """Return the stop of a slice; None if it is the end of the axis."""
    number = stop.value
    return None if step > 0 and number is not None and number >= UNBOUNDED else stop
