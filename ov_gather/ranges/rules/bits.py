"""Transfer functions of bitwise operations, which are logical ones on booleans."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ov_gather.ir.element_types import BOOLEAN
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules.call import Operands
from ov_gather.ranges.rules.comparing import truth
from ov_gather.ranges.rules.elementwise import Binary, binary


def conjunction(call: Operands) -> Sequence[Value]:
    """Infer BitwiseAnd, which is not negative if an operand is not, and then does not exceed it: i & 63 is in 0..63."""

    def both(algebra: Algebra, one: Interval, other: Interval) -> Interval:
        if max(one.low, other.low) < 0:
            return ANY
        mask = algebra.minimum(one, other) if min(one.low, other.low) >= 0 else one if one.low >= 0 else other
        return Interval(0, mask.high, (), mask.highs)

    return _bitwise(call, both)


def disjunction(call: Operands) -> Sequence[Value]:
    """Infer BitwiseOr or BitwiseXor: numbers that are not negative have no more bits together than the longest one."""

    def either(_: Algebra, one: Interval, other: Interval) -> Interval:
        high = max(one.high, other.high)
        return ANY if min(one.low, other.low) < 0 or high == inf else Interval(0, (1 << int(high).bit_length()) - 1)

    return _bitwise(call, either)


def _bitwise(call: Operands, work: Binary) -> Sequence[Value]:
    if call.outputs[0].element_type is BOOLEAN:
        return truth(call)
    return binary(work, call, lambda call, found: found)
