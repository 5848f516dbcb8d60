"""This module tells between which bounds the integers of a value lie, whatever the inputs are: enough for what computes
indices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import ceil, floor, inf, trunc
from operator import add, mul, sub, truediv

from openvino import Output

from ov_gather.acceleration.graph import constant, dims, from_inputs, operation
from ov_gather.ops.meanings import OPENVINO, operators

Range = tuple[float, float]
"""The least and the greatest; both infinite where one is not known."""
Ranges = list[Range]
Rule = Callable[[Output, Ranges], Range]
"""From a value and the ranges of what its node reads."""

ANY: Range = (-inf, inf)
_TRUTH: Range = (0, 1)
_EXACT = 2**24
"""The CPU plugin computes on 32 bits, and some integers as float32: of greater ones even a Maximum may come out too low."""


def value_range(value: Output) -> Range:
    """Return the range of all elements of a value."""
    return from_inputs(value, _inputs_of_rule, _found)


def _inputs_of_rule(value: Output) -> list[Output]:
    """Return the values that the rule for a value needs the ranges of."""
    return list(value.get_node().input_values()) if _is_followed(value) else []


def _is_followed(value: Output) -> bool:
    return value.get_node().get_type_name() in _RULES and _kind(value) in ("boolean", "i32", "i64")


def _kind(value: Output) -> str:
    return str(value.get_element_type().get_type_name())


def _found(value: Output, ranges: Ranges) -> Range:
    """Return what the rule tells, or any value where that is more than float32 or the element type holds."""
    if not _is_followed(value):
        return ANY
    found = _RULES[value.get_node().get_type_name()](value, ranges)
    fits = _is_exact(found) and (_kind(value) != "boolean" or _within(found, _TRUTH))
    return found if fits else ANY


def _constant(value: Output, _: Ranges) -> Range:
    elements = constant(value)
    return (int(elements.min()), int(elements.max())) if elements is not None and elements.size else ANY


def _as_first(_: Output, ranges: Ranges) -> Range:
    return ranges[0]


def _hull(_: Output, ranges: Ranges) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _corners(work: Callable[[float, float], float]) -> Rule:
    """Arithmetic that has its least and greatest where its operands have theirs."""

    def rule(_: Output, ranges: Ranges) -> Range:
        values = [work(*corner) for corner in product(*ranges)] if ANY not in ranges else ANY
        return min(values), max(values)

    return rule


def _within(bounds: Range, others: Range) -> bool:
    return others[0] <= bounds[0] and bounds[1] <= others[1]


def _is_exact(bounds: Range) -> bool:
    return _within(bounds, (-_EXACT, _EXACT))


def _converted(value: Output, ranges: Ranges) -> Range:
    """Any number but 0 becomes 1 in a boolean. The plugin keeps booleans as bytes: one that an input brings may be any."""
    if _kind(value) == "boolean" and _kind(value.get_node().input_value(0)) not in ("boolean", "u8"):
        return _TRUTH
    return ranges[0]


def _gathered(value: Output, ranges: Ranges) -> Range:
    """Elements of data; out of bounds also zeros, or anything that lies in memory.

    The plugin gathers from up to 64 integers of one dimension, and from an axis of no elements, without a check.
    """
    shape, axis = dims(value.get_node().input_value(0)), constant(value.get_node().input_value(2))
    if shape is None or axis is None:
        return ANY
    size = shape[int(axis.item())].get_min_length() if shape else 1
    lowest = -size if operation(value.get_node()) == "Gather-8" else 0
    if _within(ranges[1], (lowest, size - 1)):
        return ranges[0]
    return _hull(value, [ranges[0], (0, 0)]) if size > 0 and len(shape) > 1 else ANY


def _gathered_elements(value: Output, ranges: Ranges) -> Range:
    """Elements of data. The plugin does not execute a node whose data is empty, and leaves its output as it was in memory."""
    shape = dims(value.get_node().input_value(0))
    return ranges[0] if shape is not None and all(dim.get_min_length() > 0 for dim in shape) else ANY


def _tiled(value: Output, ranges: Ranges) -> Range:
    """Where repeats are only known when it runs, the plugin may leave the output as it was in memory."""
    return ranges[0] if constant(value.get_node().input_value(1)) is not None else ANY


def _divided(value: Output, ranges: Ranges) -> Range:
    """Rounded down, or towards 0."""
    if ranges[1][0] <= 0 <= ranges[1][1]:
        return ANY
    low, high = _corners(truediv)(value, ranges)
    return (floor(low), trunc(high)) if _is_exact((low, high)) else ANY


def _modulo(value: Output, ranges: Ranges) -> Range:
    """FloorMod has the sign of the divisor, Mod that of the dividend."""
    dividend, divisor = ranges
    if divisor[0] <= 0 or dividend == ANY:
        return ANY
    negative = value.get_node().get_type_name() == "Mod" and dividend[0] < 0
    return (1 - divisor[1] if negative else 0), divisor[1] - 1


def _places(value: Output, _: Ranges) -> Range:
    """Return the second output of TopK. Over an axis of no elements the plugin leaves it as it was in memory."""
    node = value.get_node()
    shape = dims(node.input_value(0))
    if shape is None or value.get_index() != 1:
        return ANY
    dim = shape[int(node.get_attributes()["axis"])]
    return (0, dim.get_max_length() - 1) if dim.get_min_length() > 0 and dim.get_max_length() > 0 else ANY


def _clamped(value: Output, ranges: Ranges) -> Range:
    """Bounds may be fractions: whether the plugin rounds them up or down for integers is left open."""
    least, greatest = (float(value.get_node().get_attributes()[name]) for name in ("min", "max"))
    low, high = (min(max(bound, least), greatest) for bound in ranges[0])
    return (floor(low), ceil(high)) if _is_exact((low, high)) else ANY


def _counted(_: Output, ranges: Ranges) -> Range:
    """Range: from the first to before the second, in steps up or down."""
    start, stop, step = ranges
    if step[0] > 0:
        return start[0], max(start[1], stop[1] - 1)
    return (min(start[0], stop[0] + 1), start[1]) if step[1] < 0 else ANY


def _least(_: Output, ranges: Ranges) -> Range:
    return min(low for low, _ in ranges), min(high for _, high in ranges)


def _greatest(_: Output, ranges: Ranges) -> Range:
    return max(low for low, _ in ranges), max(high for _, high in ranges)


# Nothing comes out of them but elements of the first input, as they are. Gathers have rules of their own, as an index may be
# out of bounds.
_OF_FIRST = operators(
    OPENVINO,
    lambda meaning: meaning.rearranges and meaning.sources == (0,) and not meaning.converts and meaning.indices is None,
)
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_OF_FIRST, _as_first),
    **dict.fromkeys(("Equal", "Greater", "Less", "LogicalAnd", "LogicalNot", "LogicalOr"), lambda *_: _TRUTH),
    "Add": _corners(add),
    "Clamp": _clamped,
    "Concat": _hull,
    "Constant": _constant,
    "Convert": _converted,
    "Divide": _divided,
    "FloorMod": _modulo,
    "Gather": _gathered,
    "GatherElements": _gathered_elements,
    "Maximum": _greatest,
    "Minimum": _least,
    "Mod": _modulo,
    "Multiply": _corners(mul),
    "Range": _counted,
    "Select": lambda value, ranges: _hull(value, ranges[1:]),
    "Subtract": _corners(sub),
    "Tile": _tiled,
    "TopK": _places,
}
