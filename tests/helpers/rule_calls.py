"""What the rules of the analysis say of one operation, in the texts in which tests write it.

A tensor is written as its type, its shape, and the bounds of its elements: "i64[n, 3] 0..n - 1". "3.." is the number 3 alone,
"?" is no bound, and [...] an open rank. n is a size, m is a size of 1 or more, k is one of 2 to 5, and value is a number that
is no size. Then follow, where known, the bounds by slices along an axis, "by 1: 0..2 | 5..", "or NaN", and a number that one
element is not below, "peak 1".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from helpers.made_symbols import Letter
from ov_gather.graph.protocol import Node
from ov_gather.graph.symbols import Symbol
from ov_gather.ir.element_types import ELEMENT_TYPES
from ov_gather.ranges.algebra.intervals import ANY, Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.algebra.symbols import UnknownElement
from ov_gather.ranges.algebra.values import LARGEST_SIZE, SliceBounds, Value, in_slices, is_integer
from ov_gather.ranges.rules import onnx, openvino
from ov_gather.ranges.rules.call import CPU_PLUGIN, ONNX, Operands, Semantics, TransferFunction

SYMBOLS: dict[str, Symbol] = {"n": Letter("n"), "m": Letter("m"), "k": Letter("k"), "d": Letter("d")}
SYMBOLS |= {"value": UnknownElement("x", 0)}
SIZES = dict(zip(SYMBOLS.values(), ((0, inf), (1, inf), (2, 5), (0, inf), (0, inf)), strict=True))
TYPES = {row.name: row for row in ELEMENT_TYPES}
TENSOR = re.compile(
    r"(?P<type>\w+)\[(?P<shape>[^\]]*)\](?: (?P<elements>[^|]*?\.\..*?))?(?: by (?P<axis>\d+): (?P<parts>.*?))?"
    r"(?P<nan> or NaN)?(?: peak (?P<peak>\S+))?"
)


def tensor(words: str) -> Value:
    """Read a tensor; "3" and "(1, n)" are constants, a scalar and a vector, of i64."""
    if words[0] == "(":
        return _vector([_polynomial(part) for part in words[1:-1].split(", ") if part])
    if "[" not in words:
        return replace(_vector([_polynomial(words)]), shape=())
    found = TENSOR.fullmatch(words)
    assert found, words
    shape = None if found["shape"] == "..." else tuple(_polynomial(dim) for dim in found["shape"].split(", ") if dim)
    elements = ANY if found["elements"] is None else _interval(found["elements"])
    parts = None
    if found["axis"]:
        parts = SliceBounds(int(found["axis"]), tuple(_interval(part) for part in found["parts"].split(" | ")))
    peak = float(found["peak"]) if found["peak"] else -inf
    return Value(TYPES[found["type"]], shape, elements, parts, bool(found["nan"]), peak)


def _vector(elements: Sequence[Polynomial]) -> Value:
    value = Value(TYPES["i64"], (Polynomial.constant(len(elements)),))
    algebra = Algebra(Sizes(dict(SIZES)))
    return in_slices(algebra, value, 0, [algebra.exact(element) for element in elements])


def shown(value: Value) -> str:
    """Write a tensor."""
    shape = "..." if value.shape is None else ", ".join(map(str, value.shape))
    words = f"{value.element_type.name if value.element_type else '?'}[{shape}]"
    if not value.elements.is_any:
        words += f" {_bounds(value.elements)}"
    if value.parts is not None:
        words += f" by {value.parts.axis}: {' | '.join(map(_bounds, value.parts.intervals))}"
    words += " or NaN" if value.may_be_nan else ""
    return words + (f" peak {value.peak:g}" if value.peak != -inf else "")


def node_of(kind: str, opset: str, attributes: Mapping[str, Any]) -> Node:
    """Return a node of no graph."""
    return Node(kind, opset, "", (), ["given"], ["made"], attributes)


def by_openvino(words: str, inputs: str, outputs: str) -> str:
    """Apply the rule of an operation of OpenVINO, such as "Gather opset8 batch_dims=1", to operands and declared outputs."""
    kind, opset, *attributes = words.split(" ")
    rule = openvino.rule_of(node_of(kind, opset, dict(pair.split("=") for pair in attributes)))
    return _applied(rule, inputs, outputs, CPU_PLUGIN)


def by_onnx(words: str, inputs: str, outputs: str) -> str:
    """Apply the rule of an operator of ONNX, such as "Squeeze axes=0,2" or "ConstantOfShape value=i64[1] 3.."."""
    kind, *attributes = re.split(r" (?=\w+=)", words)
    pairs = dict(pair.split("=") for pair in attributes)
    rule = onnx.rule_of(node_of(kind, "", {name: _attribute(text) for name, text in pairs.items()}))
    return _applied(rule, inputs, outputs, ONNX)


def _attribute(words: str) -> object:
    if "[" in words:
        return tensor(words)
    numbers = [int(number) if re.fullmatch(r"-?\d+", number) else number for number in words.strip(",").split(",")]
    return numbers if "," in words else numbers[0]


def _applied(rule: TransferFunction | None, inputs: str, outputs: str, semantics: Semantics) -> str:
    """Tensors are separated by "; "; an operand that is absent is "-". Where less is known of an operand, no more is told."""
    assert rule is not None
    values = [None if words == "-" else tensor(words) for words in inputs.split("; ")]
    declared = [tensor(words) for words in outputs.split("; ")]
    declared = [replace(value, may_be_nan=not is_integer(value.element_type)) for value in declared]
    call = Operands(Algebra(Sizes(dict(SIZES))), semantics, values, declared)
    found = rule(call)
    for i, value in enumerate(values):
        rule(replace(call, inputs=[*values[:i], None, *values[i + 1 :]]))  # which is no error of a rule
        if value is not None:
            open_rank = replace(value, shape=None, parts=None)
            less = rule(replace(call, inputs=[*values[:i], open_rank, *values[i + 1 :]]))
            assert len(less) == len(found)
            for one, other in zip(found, less, strict=True):
                assert _tells_no_more(other, one), f"operand {i} of open rank: {shown(other)} instead of {shown(one)}"
    return "; ".join(map(shown, found))


def _tells_no_more(one: Value, other: Value) -> bool:
    """Whether the numbers that bound a value, or say that it is no NaN, do not leave out what they allow of another one.

    Where nothing is known of the other one, the plugin reads memory that is not its own because of a certain shape.
    """
    high = LARGEST_SIZE if (other.elements.low, other.elements.high) == (0, inf) else other.elements.high
    is_wider = other.elements.is_any or (one.elements.low <= other.elements.low and one.elements.high >= high)
    return is_wider and one.may_be_nan >= other.may_be_nan and one.peak <= other.peak


def _bounds(interval: Interval) -> str:
    if interval.low == interval.high and not interval.lows and not interval.highs:
        return f"{interval.low}.."
    return str(interval).replace("value(x)", "value")


def _interval(words: str) -> Interval:
    low, high = (end.split(" or ") for end in words.split(".."))
    if high == [""]:
        high = low
    lows, highs = ([bound for bound in bounds if not _is_number(bound)] for bounds in (low, high))
    return Interval(_number(low, -inf), _number(high, inf), tuple(map(_polynomial, lows)), tuple(map(_polynomial, highs)))


def _is_number(words: str) -> bool:
    return re.fullmatch(r"\?|inf|-?[\d.]+(e-?\d+)?", words) is not None


def _number(bounds: Sequence[str], missing: Number) -> Number:
    words = next((bound for bound in bounds if _is_number(bound)), "?")
    return missing if words == "?" else int(words) if re.fullmatch(r"-?\d+", words) else float(words)


def _polynomial(words: str) -> Polynomial:
    """Read a sum of products, such as "2 * n * m - 1"."""
    found = Polynomial(())
    for sign, term in re.findall(r"(^-?|[+-]) ?([^+-]+)", words):
        product = Polynomial.constant(-1 if sign == "-" else 1)
        for factor in term.strip().split(" * "):
            product = product * (int(factor) if factor.isdecimal() else Polynomial.symbol(SYMBOLS[factor]))
        found = found + product
    return found
