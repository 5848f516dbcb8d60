"""Evaluation of single ONNX nodes with constant operands: integers, booleans, and floats where rounding is exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from ov_gather.kernels.gather_elements import gather_elements
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ops.table import ONNX, OpKind, Trait, where

from .graphs import is_default

LARGEST = 2**18
"""Maximum number of elements of a result: a square of 512 positions, which models compute from constants, fits."""

_Array = NDArray[Any]
_Evaluate = Callable[[onnx_ir.Node, "Sequence[_Array | None]"], "_Array | None"]
_EXACT = 2**53  # float64 represents all integers up to this one


def evaluate(node: onnx_ir.Node, operands: Sequence[_Array | None], opset: int) -> list[_Array] | None:
    """Return the outputs of a node of opset 9 or later; None if it is not in the tables, undefined by ONNX, or too large."""
    is_known = is_default(node, (*_EVALUATE, *_BY_REFERENCE)) and bool(operands)
    if not attribute(node, "sorted", 1):  # ONNX's reference sorts the elements of Unique in any case
        return None
    if not is_known or any(array is not None and array.dtype.kind not in "biuf" for array in operands):
        return None
    with np.errstate(all="ignore"):
        # NumPy and ONNX's reference raise many kinds of errors for invalid operands, which OpenVINO reports later.
        try:
            if _size(node, [np.empty(0) if array is None else array for array in operands]) > LARGEST:
                return None
            return _outputs(node, operands, opset)
        except Exception:
            return None


def _outputs(node: onnx_ir.Node, operands: Sequence[_Array | None], opset: int) -> list[_Array] | None:
    given = [array for array in operands if array is not None]
    if evaluate_by := _EVALUATE.get(node.op_type):
        result = evaluate_by(node, operands)
        return None if result is None else [np.asarray(result)]
    evaluator = ReferenceEvaluator(onnx_ir.to_proto(node), opsets={"": opset})
    names = [str(value.name) for value in node.inputs if value is not None]
    feed = dict(zip(names, given, strict=True))
    if node.op_type in _TOTALS and given[0].dtype.kind in "iu":
        (total,) = evaluator.run(None, {**feed, names[0]: np.abs(given[0].astype(np.float64))})
        if (np.asarray(total) > np.iinfo(given[0].dtype).max).any():
            return None  # on overflow, some runtimes saturate, others wrap around
    return [np.asarray(array) for array in evaluator.run(None, feed)]


def _size(node: onnx_ir.Node, operands: Sequence[_Array]) -> int:
    """Return an upper bound for the number of elements of each output."""
    op = ONNX[node.op_type]
    if op.by_element and op.kind is not OpKind.CAST and node.op_type != "Clip":
        return prod(np.broadcast_shapes(*(array.shape for array in operands)))
    first, second = operands[0], operands[min(1, len(operands) - 1)]
    match node.op_type:
        case "ConstantOfShape":
            return prod(map(int, first))
        case "Expand":
            return prod(np.broadcast_shapes(first.shape, tuple(map(int, second))))
        case "Tile":
            return first.size * prod(map(int, second))
        case "Range":
            start, limit, step = map(int, operands)
            return (limit - start) // step + 1
        case "Pad":
            frame = int(abs(second).sum())
            return prod(size + frame for size in first.shape)
        case "OneHot":
            depth: int = second.item()
            return first.size * depth
        case "Gather":
            return first.size * second.size // max(1, int(first.shape[attribute(node, "axis", 0)]))
        case "GatherND":
            return prod(second.shape[:-1]) * prod(first.shape[second.shape[-1] :])
    return sum(array.size * max(1, array.ndim) for array in operands)


def _divided(_: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    """Divide, rounding integers towards zero; None for undefined quotients: by 0, or the least integer by -1."""
    one, other = _both(operands)
    if one.dtype.kind == "f":
        return one / other
    if not _may_divide(one, other):
        return None
    down = one // other
    return np.asarray(down + ((down * other != one) & ((one < 0) != (other < 0))), one.dtype)


def _remainder(node: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    one, other = _both(operands)
    if one.dtype.kind != "f" and not _may_divide(one, other):
        return None
    return np.fmod(one, other) if attribute(node, "fmod", 0) else np.mod(one, other)


def _may_divide(one: _Array, other: _Array) -> bool:
    overflows = one.dtype.kind == "i" and (one == np.iinfo(one.dtype).min).any() and (other == -1).any()
    return bool((other != 0).all()) and not overflows


def _power(_: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    one, other = _both(operands)
    result = np.power(one.astype(np.float64), other.astype(np.float64))
    is_exact = (
        one.dtype.kind in "iu"
        and other.dtype.kind in "iu"
        and bool(((abs(result) < _EXACT) & (result == np.trunc(result))).all())
    )
    return _cast_to(result, one.dtype) if is_exact else None


def _shifted(node: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    one, other = _both(operands)
    if one.dtype.kind != "u" or (other >= 8 * one.dtype.itemsize).any():
        return None
    return one << other if node.attributes["direction"].as_string() == "LEFT" else one >> other


def _clipped(node: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    if "min" in node.attributes or "max" in node.attributes:  # before opset 11
        return None
    found, low, high = (*operands, None, None)[:3]
    assert found is not None
    found = found if low is None else np.maximum(found, low)
    return found if high is None else np.minimum(found, high)


def _cast(node: onnx_ir.Node, operands: Sequence[_Array | None]) -> _Array | None:
    to = node.outputs[0].dtype if node.op_type == "CastLike" else onnx_ir.DataType(node.attributes["to"].as_int())
    assert operands[0] is not None
    return None if to is None or to.numpy().kind not in "biuf" else _cast_to(operands[0], to.numpy())


def _cast_to(array: _Array, dtype: np.dtype[Any]) -> _Array | None:
    """Return the converted array; None if a float is out of range, which ONNX leaves undefined. Integers wrap around."""
    if array.dtype.kind == "f" and dtype.kind in "iu":
        whole, limits = np.trunc(array.astype(np.float64)), np.iinfo(dtype)
        if not ((whole >= limits.min) & (whole < float(limits.max) + 1)).all():
            return None
    return array.astype(dtype)


def _both(operands: Sequence[_Array | None]) -> tuple[_Array, _Array]:
    one, other = operands
    assert one is not None and other is not None
    return one, other


def _of_all(work: Callable[[_Array, _Array], _Array]) -> Callable[..., _Array]:
    return lambda *arrays: reduce(work, arrays)


def _applied(work: Callable[..., Any]) -> _Evaluate:
    """Return the evaluation of an operator that a function of NumPy computes."""
    return lambda node, operands: work(*(array for array in operands if array is not None))


_EVALUATE: Mapping[str, _Evaluate] = {
    "Abs": _applied(np.abs),
    "Add": _applied(np.add),
    "And": _applied(np.logical_and),
    "BitwiseAnd": _applied(np.bitwise_and),
    "BitwiseNot": _applied(np.invert),
    "BitwiseOr": _applied(np.bitwise_or),
    "BitwiseXor": _applied(np.bitwise_xor),
    "Ceil": _applied(np.ceil),
    "Equal": _applied(np.equal),
    "Floor": _applied(np.floor),
    "Greater": _applied(np.greater),
    "GreaterOrEqual": _applied(np.greater_equal),
    "Less": _applied(np.less),
    "LessOrEqual": _applied(np.less_equal),
    "Max": _applied(_of_all(np.maximum)),
    "Min": _applied(_of_all(np.minimum)),
    "Mul": _applied(np.multiply),
    "Neg": _applied(np.negative),
    "Not": _applied(np.logical_not),
    "Or": _applied(np.logical_or),
    "Relu": _applied(lambda array: np.maximum(array, array.dtype.type(0))),
    "Round": _applied(np.rint),
    "Sign": _applied(np.sign),
    "Sqrt": _applied(np.sqrt),
    "Sub": _applied(np.subtract),
    "Sum": _applied(_of_all(np.add)),
    "Where": _applied(np.where),
    "Xor": _applied(np.logical_xor),
    "BitShift": _shifted,
    "Cast": _cast,
    "CastLike": _cast,
    "Clip": _clipped,
    "Div": _divided,
    "GatherElements": lambda node, operands: gather_elements(*_both(operands), attribute(node, "axis", 0)),
    "Mod": _remainder,
    "Pow": _power,
}
_BY_REFERENCE = where(ONNX, lambda op: Trait.ORACLE in op.traits)
_TOTALS = where(ONNX, lambda op: op.kind is OpKind.REDUCTION and op.symbol not in ("max", "min")) & _BY_REFERENCE
