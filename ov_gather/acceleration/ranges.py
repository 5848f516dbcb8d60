"""Between which bounds the integers of a value lie, whatever the inputs are: enough for what computes indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import floor, inf, trunc
from operator import add, mul, sub, truediv

from openvino import Output

from ov_gather.acceleration.graph import constant, dims

Range = tuple[float, float]
"""The least and the greatest; both infinite where one is not known."""
Ranges = list[Range]
Rule = Callable[[Output, Ranges], Range]
"""From a value and the ranges of what its node reads."""

ANY: Range = (-inf, inf)
_EXACT = 2**24
"""The CPU plugin computes on 32 bits, and some integers as float32: of greater ones even a Maximum may come out too low."""
_DEEPEST = 100


def value_range(value: Output) -> Range:
    """Of all elements of a value."""
    return _find(value, {}, 0)


def _find(value: Output, known: dict[tuple[int, int], Range], depth: int) -> Range:
    key = value.get_node().get_instance_id(), value.get_index()
    if key not in known:
        known[key] = ANY
        rule = _RULES.get(value.get_node().get_type_name())
        if rule and depth < _DEEPEST and value.get_element_type().get_type_name() in ("boolean", "i32", "i64"):
            found = rule(value, [_find(it, known, depth + 1) for it in value.get_node().input_values()])
            known[key] = found if _is_exact(found) else ANY
    return known[key]


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


def _is_exact(bounds: Range) -> bool:
    return bounds[0] >= -_EXACT and bounds[1] <= _EXACT


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
    """Of TopK's second output."""
    node = value.get_node()
    shape = dims(node.input_value(0))
    if shape is None or value.get_index() != 1:
        return ANY
    size = shape[int(node.get_attributes()["axis"])].get_max_length()
    return (0, size - 1) if size > 0 else ANY


def _clamped(value: Output, ranges: Ranges) -> Range:
    least, greatest = (float(value.get_node().get_attributes()[name]) for name in ("min", "max"))
    low, high = (min(max(bound, least), greatest) for bound in ranges[0])
    return low, high


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


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("Broadcast", "GatherElements", "Reshape", "Slice", "Split", "Squeeze"), _as_first),
    **dict.fromkeys(("Convert", "StridedSlice", "Tile", "Transpose", "Unsqueeze", "VariadicSplit"), _as_first),
    **dict.fromkeys(("Equal", "Greater", "Less", "LogicalAnd", "LogicalNot", "LogicalOr"), lambda *_: (0, 1)),
    "Add": _corners(add),
    "Clamp": _clamped,
    "Concat": _hull,
    "Constant": _constant,
    "Divide": _divided,
    "FloorMod": _modulo,
    "Gather": lambda value, ranges: _hull(value, [ranges[0], (0, 0)]),  # zeros out of bounds
    "Maximum": _greatest,
    "Minimum": _least,
    "Mod": _modulo,
    "Multiply": _corners(mul),
    "Range": _counted,
    "Select": lambda value, ranges: _hull(value, ranges[1:]),
    "Subtract": _corners(sub),
    "TopK": _places,
}
