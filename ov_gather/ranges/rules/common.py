"""Transfer functions of operations that ONNX and OpenVINO name alike, without other attributes than an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules import bits, comparing, indexing, shaping
from ov_gather.ranges.rules.arithmetic import ARITHMETIC
from ov_gather.ranges.rules.call import TransferFunction
from ov_gather.ranges.rules.comparing import COMPARISONS

Make = Callable[[Any], TransferFunction]
"""A function from an operation, with its attributes, to its transfer function."""


def always(rule: TransferFunction) -> Make:
    """Return the transfer function whatever the attributes are."""
    return lambda operation: rule


def along(rule: Callable[..., Sequence[Value]], default: int = 0) -> Make:
    """Bind the `axis` of a transfer function to an attribute."""
    return lambda operation: partial(rule, axis=operation.integer("axis", default))


_ARITHMETIC = "Abs Add Cos Erf Floor Log Relu Round Sigmoid Sign Sin Softmax Sqrt Tanh"
_SAME_SHAPE = """
    Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cosh Elu Exp Gelu GroupNormalization HardSigmoid LogSoftmax Mish Selu Sinh Tan
"""
COMMON: Mapping[str, Make] = {
    **{name: always(ARITHMETIC[name]) for name in _ARITHMETIC.split()},
    **{name: always(COMPARISONS[name]) for name in ("Equal", "Greater", "Less")},
    **dict.fromkeys(_SAME_SHAPE.split(), always(shaping.shape_only)),
    **dict.fromkeys(("BitwiseOr", "BitwiseXor"), always(bits.disjunction)),
    "BitwiseAnd": always(bits.conjunction),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), always(shaping.elements_only)),
    **dict.fromkeys(("IsInf", "IsNaN"), always(comparing.truth)),
    "Concat": along(shaping.concatenate),
    "Identity": always(shaping.same_shape),
    "NonZero": always(indexing.non_zero),
    "Range": always(indexing.count_up),
    "ReverseSequence": always(shaping.computed_elements),
    "Tile": always(shaping.tile),
    "TopK": along(indexing.top_k, -1),
}
