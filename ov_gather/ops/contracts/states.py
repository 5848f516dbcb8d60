"""Contracts of states: ReadValue, Assign."""

from __future__ import annotations

from ov_gather.ir.element_types import DYNAMIC
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.contracts.call import BadSizeError, BadTypeError, BadValueError, Call, Output, UnjudgedError


def read_value(call: Call) -> list[Output]:
    """ReadValue: since opset 6 of the type and the shape that it declares, which its initial value fits."""
    if call.opset < 6:
        return assign(call)
    for name in ("variable_type", "variable_shape"):
        if name not in call.attributes:
            raise BadValueError(f"{name} is missing", "since opset 6, a ReadValue declares the variable")
    kind = call.element_type("variable_type")
    if kind is DYNAMIC and not call.count:
        raise BadValueError("variable_type=dynamic, without an initial value", "name the element type of the state")
    try:
        shape = PartialShape.parse(call.attributes["variable_shape"])
    except ValueError:  # OVG203 reports it
        raise UnjudgedError from None
    if call.count and kind is not DYNAMIC and None not in (kind, call.kind(0)) and kind is not call.kind(0):
        raise BadTypeError(f"the initial value has element type {call.kind(0)}", f"variable_type is {kind}", 0)
    if call.count and shape.intersect(call.shapes[0]) is None:
        raise BadSizeError(f"the initial value is {call.shapes[0]}", f"variable_shape is {shape}", 0)
    return [(None, shape)]


def assign(call: Call) -> list[Output]:
    """Assign: what it is given."""
    if not call.count:  # OVG104 reports it
        raise UnjudgedError
    return [(call.kind(0), call.shapes[0])]
