"""The integers that layers compute from constants and static shapes: sizes, axes and ends of slices of exported models."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from itertools import accumulate
from math import prod

from ov_gather.ir.element_types import INTEGERS
from ov_gather.ops.contracts.call import MANY, Call, Numbers, UnjudgedError

_LIMIT = 2**62
"""Integers from here on may have wrapped around."""


def folded(call: Call) -> list[Numbers]:
    """Return the elements of each output of a layer, flat; none if they are unknown, or not few."""
    try:
        found = _parts(call) if call.type == "VariadicSplit" else [FOLDED[call.type](call)]
    except (UnjudgedError, IndexError, ZeroDivisionError):  # out of bounds, or divided by 0, no integer is known
        return []
    fits = all(len(numbers) <= MANY and all(abs(number) < _LIMIT for number in numbers) for numbers in found)
    return found if fits else []


def _parts(call: Call) -> list[Numbers]:
    numbers, lengths = _row(call, 0), _known(call, 2)
    rest = len(numbers) - sum(length for length in lengths if length >= 0)
    ends = list(accumulate(length if length >= 0 else rest for length in lengths))
    return [numbers[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _known(call: Call, port: int) -> tuple[int, ...]:
    """Return the integers of an input. Raises UnjudgedError if they are unknown."""
    found = call.wholes_of(port)
    if found is None:
        raise UnjudgedError
    return found


def _row(call: Call, port: int) -> tuple[int, ...]:
    """Return the integers of an input that is a vector. Raises UnjudgedError."""
    if call.rank(port) != 1:
        raise UnjudgedError
    return _known(call, port)


def _one(call: Call, port: int) -> int:
    """Return the integer of an input that has one. Raises UnjudgedError."""
    found = _known(call, port)
    if len(found) != 1:
        raise UnjudgedError
    return found[0]


def _same(call: Call) -> Numbers:
    return _known(call, 0)


def _converted(call: Call) -> Numbers:
    if call.element_type("destination_type") not in INTEGERS:
        raise UnjudgedError
    return _known(call, 0)


def _sizes(call: Call) -> Numbers:
    if not call.shapes[0].is_static:
        raise UnjudgedError
    return call.shapes[0].sizes


def _concat(call: Call) -> Numbers:
    return tuple(number for port in range(call.count) for number in _row(call, port))


def _gathered(call: Call) -> Numbers:
    numbers = _row(call, 0)
    return tuple(numbers[place] for place in _known(call, 1))


def _repeated(call: Call) -> Numbers:
    count = prod(_known(call, 1))
    if not 0 <= count <= MANY:
        raise UnjudgedError
    return (_one(call, 0),) * count


def _sliced(call: Call) -> Numbers:
    numbers, start, stop, step = _row(call, 0), _one(call, 1), _one(call, 2), _one(call, 3)
    if step < 1:
        raise UnjudgedError
    return numbers[start:stop:step]


def _strided(call: Call) -> Numbers:
    numbers, start, stop, step = _row(call, 0), _one(call, 1), _one(call, 2), _one(call, 3) if call.count > 3 else 1
    if step < 1 or any(map(sum, (call.wholes("new_axis_mask"), call.wholes("ellipsis_mask")))):
        raise UnjudgedError
    if sum(call.wholes("shrink_axis_mask")):
        return (numbers[start],)
    return numbers[None if sum(call.wholes("begin_mask")) else start : None if sum(call.wholes("end_mask")) else stop : step]


def _by_element(compute: Callable[[int, int], int]) -> Callable[[Call], Numbers]:
    """Return how to fold an operator that computes element by element, of as many numbers, or of one."""

    def fold(call: Call) -> Numbers:
        one, other = _known(call, 0), _known(call, 1)
        if len(one) != len(other) and 1 not in (len(one), len(other)):
            raise UnjudgedError
        count = max(len(one), len(other)) if one and other else 0
        return tuple(compute(one[place % len(one)], other[place % len(other)]) for place in range(count))

    return fold


def _exactly(one: int, other: int) -> int:
    if one % other:  # rounding depends on the release
        raise UnjudgedError
    return one // other


FOLDED: Mapping[str, Callable[[Call], Numbers]] = {
    **dict.fromkeys(("Reshape", "Squeeze", "Unsqueeze"), _same),
    "Convert": _converted,
    "ShapeOf": _sizes,
    "Concat": _concat,
    "Gather": _gathered,
    "Broadcast": _repeated,
    "Slice": _sliced,
    "StridedSlice": _strided,
    "Add": _by_element(operator.add),
    "Subtract": _by_element(operator.sub),
    "Multiply": _by_element(operator.mul),
    "Divide": _by_element(_exactly),
    "Maximum": _by_element(max),
    "Minimum": _by_element(min),
}
"""By the type of the layer, of one output."""
TYPES = frozenset((*FOLDED, "VariadicSplit"))
"""The types of layers that are folded."""
