"""Contracts of operators that compute each element alone: arithmetic, functions, logic, comparison, selection, conversion."""

from __future__ import annotations

from ov_gather.ir.element_types import (
    BF16,
    BOOLEAN,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    I4,
    INTEGERS,
    REALS,
    U1,
    U4,
    ElementType,
    by_name,
)
from ov_gather.ir.shapes import UNKNOWN, PartialShape
from ov_gather.ops.contracts.call import (
    BadRankError,
    BadSizeError,
    BadTypeError,
    BadValueError,
    Call,
    Output,
    UnjudgedError,
)
from ov_gather.ops.contracts.sizes import broadcast


def unary(call: Call) -> list[Output]:
    """The shape and the type of the operand."""
    if call.kind(0) is BOOLEAN and call.type not in ("Elu", "ReLU", "Relu", "Round"):
        raise BadTypeError("the input is boolean", f"{call.type} takes numbers", 0)
    return [(call.kind(0), call.shapes[0])]


def of_reals(call: Call) -> list[Output]:
    """A function that only fractions have."""
    call.takes(0, REALS, "the input")
    return [(call.kind(0), call.shapes[0])]


def same(call: Call) -> list[Output]:
    """Anything, as it is."""
    return [(call.kind(0), call.shapes[0])]


def negated(call: Call) -> list[Output]:
    """LogicalNot."""
    call.takes(0, (BOOLEAN,), "the input")
    return [(BOOLEAN, call.shapes[0])]


def classified(call: Call) -> list[Output]:
    """IsNaN, IsInf, IsFinite."""
    call.takes(0, REALS, "the input")
    return [(BOOLEAN, call.shapes[0])]


def clamp(call: Call) -> list[Output]:
    """Clamp: a minimum that is not above the maximum."""
    low, high = call.number("min"), call.number("max")
    if not low <= high:
        raise BadValueError(f"min={low:g} is above max={high:g}", "min may be at most max")
    return unary(call)


def arithmetic(call: Call) -> list[Output]:
    """Two numbers of one type."""
    kind = call.same_type(0, 1)
    if kind is BOOLEAN:
        raise BadTypeError("the inputs are boolean", f"{call.type} takes numbers", 0)
    return [(kind, _joined(call))]


def bitwise(call: Call) -> list[Output]:
    """Two integers, or booleans, of one type."""
    kind = call.same_type(0, 1)
    call.takes(0, (*INTEGERS, BOOLEAN), "the first input")
    return [(kind, _joined(call))]


def inverted(call: Call) -> list[Output]:
    """BitwiseNot: integers, or booleans."""
    call.takes(0, (*INTEGERS, BOOLEAN), "the input")
    return [(call.kind(0), call.shapes[0])]


def shifted(call: Call) -> list[Output]:
    """Two integers of one type."""
    kind = call.same_type(0, 1)
    call.takes(0, INTEGERS, "the first input")
    return [(kind, _joined(call))]


def compared(call: Call) -> list[Output]:
    """Two values of one type."""
    call.same_type(0, 1)
    return [(BOOLEAN, _joined(call))]


def logic(call: Call) -> list[Output]:
    """Two booleans."""
    for port, name in enumerate(("the first input", "the second input")):
        call.takes(port, (BOOLEAN,), name)
    return [(BOOLEAN, _joined(call))]


def select(call: Call) -> list[Output]:
    """Select: a condition, and two values of one type."""
    call.takes(0, (BOOLEAN,), "the condition")
    kind = call.same_type(1, 2)
    values = _broadcast(call, 1, 2)
    if call.word("auto_broadcast", "numpy") == "numpy":
        both = broadcast(values, call.shapes[0])
        if both is None:
            reason = f"the condition is {call.shapes[0]}, the values are {values}"
            raise BadSizeError(reason, "they must broadcast to one shape", 0)
        return [(kind, both)]
    return [(kind, values)]


def prelu(call: Call) -> list[Output]:
    """PReLU: a slope for each channel, or for the last dimensions."""
    data, slope = call.dims(0), call.dims(1)
    if data is None or slope is None:
        raise UnjudgedError
    is_of_channels = len(slope) == 1 and len(data) > 1 and slope[0].intersect(data[1]) is not None
    if not is_of_channels and (len(slope) > len(data) or broadcast(call.shapes[0], call.shapes[1]) is None):
        raise BadSizeError(f"the slope is {call.shapes[1]}, the input {call.shapes[0]}", "one number for each channel", 1)
    return [(call.kind(0), call.shapes[0])]


def converted(call: Call) -> list[Output]:
    """Convert: the type that its attribute names, which another rule compares."""
    return [(None, call.shapes[0])]


def converted_like(call: Call) -> list[Output]:
    """ConvertLike: the type of the second input."""
    return [(call.kind(1), call.shapes[0])]


def swish(call: Call) -> list[Output]:
    """Swish: of fractions, with a number as second input."""
    call.takes(0, REALS, "the input")
    if call.count > 1:
        call.same_type(0, 1)
        call.has_rank(1, "beta", 0)
    return [(call.kind(0), call.shapes[0])]


def with_scalars(call: Call) -> list[Output]:
    """HardSigmoid and Selu: of fractions, with two numbers."""
    kind = call.same_type(*range(call.count))
    call.takes(0, REALS, "the input")
    for port in (1, 2):
        dims = call.dims(port)
        if dims is not None and not (dims == () or (call.type == "Selu" and len(dims) == 1 and 1 in dims[0])):
            raise BadRankError(f"input {port} has shape {call.shapes[port]}", "a scalar", port)
    return [(kind, call.shapes[0])]


def fake_converted(call: Call) -> list[Output]:
    """FakeConvert: scales, and shifts of the same shape, that broadcast to the input."""
    kind = call.same_type(*range(call.count))
    call.takes(0, (F32, F16, BF16), "the input")
    if call.attributes.get("destination_type", "f8e4m3") not in ("f8e4m3", "f8e5m2"):
        raise BadValueError(f"destination_type is {call.attributes['destination_type'][:40]}", "f8e4m3 or f8e5m2")
    if call.count > 2 and call.shapes[1].intersect(call.shapes[2]) is None:
        raise BadSizeError(f"the shifts are {call.shapes[2]}, the scales {call.shapes[1]}", "the same shape", 2)
    both = broadcast(call.shapes[0], call.shapes[1])
    if both is not None and both.dims is None:
        return [(kind, UNKNOWN)]
    if both is None or both.intersect(call.shapes[0]) is None:
        raise BadSizeError(f"the scales are {call.shapes[1]}, the input {call.shapes[0]}", "they broadcast to the input", 1)
    return [(kind, call.shapes[0])]


_FRACTIONS = (F8E4M3, F8E5M2, *REALS)
_PROMOTED = (BOOLEAN, U1, U4, I4, *INTEGERS, *_FRACTIONS)


def promoted(call: Call) -> list[Output]:
    """ConvertPromoteTypes: both inputs, in a type that holds both."""
    for port in (0, 1):
        call.takes(port, _PROMOTED, f"input {port}")
    one, other = call.kind(0), call.kind(1)
    kind = None if one is None or other is None else _common(call, one, other)
    return [(kind, call.shapes[0]), (kind, call.shapes[1])]


def _common(call: Call, one: ElementType, other: ElementType) -> ElementType | None:
    """Return the type of ConvertPromoteTypes for two types; None if an attribute names it. Raises BadTypeError."""
    if one is other or other is BOOLEAN:
        return one
    if one is BOOLEAN:
        return other
    unsafe = call.flag("promote_unsafe")
    fault = BadTypeError(f"{one} and {other} have no common type", "promote_unsafe=true allows one that loses values", 1)
    if (one in _FRACTIONS) != (other in _FRACTIONS):
        fraction, whole = (one, other) if one in _FRACTIONS else (other, one)
        if unsafe or fraction.bits >= 2 * whole.bits:
            return fraction
        raise fault
    if call.flag("pytorch_scalar_promotion") and None in (call.rank(0), call.rank(1)):
        raise UnjudgedError
    if call.flag("pytorch_scalar_promotion") and (call.rank(0) == 0) != (call.rank(1) == 0):
        tensor, scalar = (other, one) if call.rank(0) == 0 else (one, other)
        needed = scalar.bits if _is_signed(tensor) == _is_signed(scalar) else -(-scalar.bits // 2)
        if unsafe or (tensor.bits >= needed and _is_signed(tensor) >= _is_signed(scalar)):
            return tensor
        raise fault
    if _is_signed(one) != _is_signed(other):
        signed, natural = (one, other) if _is_signed(one) else (other, one)
        if natural.bits <= 32 and (unsafe or 2 * natural.bits <= signed.bits):
            return by_name(f"i{max(2 * natural.bits, signed.bits)}")
        if unsafe:
            return None
        raise fault
    if one.bits != other.bits:
        return max(one, other, key=lambda kind: kind.bits)
    if unsafe:
        return F16 if one.bits == 8 else F32  # the two fractions of 8 bits, and of 16
    raise fault


def _is_signed(kind: ElementType) -> bool:
    return not kind.name.startswith("u")


def _joined(call: Call) -> PartialShape:
    return _broadcast(call, 0, 1)


def _broadcast(call: Call, one: int, other: int) -> PartialShape:
    mode, first, second = call.word("auto_broadcast", "numpy"), call.shapes[one], call.shapes[other]
    if mode in ("none", "explicit"):
        both = first.intersect(second)
        wanted = f"with auto_broadcast={mode} they must be the same"
    elif mode == "numpy":
        both = broadcast(first, second)
        wanted = "they must broadcast to one shape"
    else:  # PDPD's axis is read by few
        raise UnjudgedError
    if both is not None:
        return both
    fault = BadRankError if first.rank != second.rank and mode != "numpy" else BadSizeError
    raise fault(f"the inputs are {first} and {second}", wanted, other)
