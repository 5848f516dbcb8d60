"""Slices: parts of some axes of a value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import MAX_PARTS, Shape, Value
from ov_gather.ranges.rules import moves
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.shaping import elements_only


@dataclass(frozen=True, slots=True)
class Cut:
    """A Python slice of one axis; None is the end of the axis on that side. Without `is_known` start and stop are unknown."""

    axis: int
    start: Polynomial | None
    stop: Polynomial | None
    step: int = 1
    is_known: bool = True


def cut(call: Operands, cuts: Sequence[Cut], removed: Collection[int] = ()) -> Sequence[Value]:
    """Infer a slice of some axes, then drop those in `removed`."""
    value = call.value(0)
    if value is None or value.shape is None or any(not one.step for one in cuts):  # runtimes refuse a step of 0
        return elements_only(call)
    declared, found = call.outputs[0].shape, value
    if removed or (declared is not None and len(declared) != len(value.shape)):
        declared = None
    for one in cuts:
        found = _cut(call, found, one, declared)
        if found.shape is None:
            return elements_only(call)
    if removed and found.shape is not None:
        found = moves.reshape(found, tuple(dim for axis, dim in enumerate(found.shape) if axis not in removed))
    return [call.output(found)]


def _cut(call: Operands, value: Value, given: Cut, declared: Shape | None) -> Value:
    """Cut one axis. The shape is None if it cannot be inferred."""
    assert value.shape is not None
    dim = value.shape[given.axis]
    are_numbers = given.is_known and all(end is None or end.value is not None for end in (given.start, given.stop))
    if are_numbers and dim.value is not None and dim.value <= MAX_PARTS:
        start, stop = (None if end is None else end.value for end in (given.start, given.stop))
        return moves.take(call.algebra, value, given.axis, range(dim.value)[slice(start, stop, given.step)])
    length = _length(call, dim, given)
    if length is None and declared is not None:
        length = declared[given.axis]
        call.algebra.sizes.narrow(length, _most(call, dim, given))
    return value.with_shape(None) if length is None else moves.resize(value, given.axis, length)


def _most(call: Operands, dim: Polynomial, given: Cut) -> Number:
    """Return the greatest length that a cut leaves of a dimension."""
    most = call.algebra.sizes.greatest(dim)
    start, stop = (None if end is None else end.value for end in (given.start, given.stop))
    if given.start is None and given.step > 0:
        start = 0
    if not given.is_known or start is None or stop is None or (start < 0) != (stop < 0):
        return most
    return min(most, max(0, (stop - start) * (1 if given.step > 0 else -1)))


def _length(call: Operands, dim: Polynomial, given: Cut) -> Polynomial | None:
    """Return the length of a cut in steps of 1; None if that depends on which of two sizes is greater."""
    sizes = call.algebra.sizes
    if given.step != 1 or not given.is_known:
        return None
    first = _place(call, dim, given.start or Polynomial(()))
    last = dim if given.stop is None else _place(call, dim, given.stop)
    if first is None or last is None or sizes.least(last - first) < 0:
        return None
    return last - first


def _place(call: Operands, dim: Polynomial, end: Polynomial) -> Polynomial | None:
    """Return the position at which a cut starts or stops, counted from the front; None if unknown."""
    sizes = call.algebra.sizes
    if sizes.greatest(end) < 0:
        end = dim + end
        return end if sizes.least(end) >= 0 else None
    if sizes.least(end) < 0:
        return None
    return end if sizes.is_at_most(end, dim) else dim if sizes.is_at_most(dim, end) else None
