"""Quantised ONNX models: what their integer products are exactly, and what the quantisation itself changes.

onnxruntime saturates the products of u8 and s8 at 16 bits on x86-64 CPUs with AVX2 and without VNNI, and it rounds ties of
DynamicQuantizeLinear otherwise than OpenVINO. MatMulInteger and ConvInteger are exact by their specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray
from onnx_ir import DataType

from ov_gather.converters.passes.rewriter import Rewriter
from ov_gather.converters.ranges import Ranges
from ov_gather.converters.shape_inference import infer_shapes
from ov_gather.crosscheck.deviation import Deviation
from ov_gather.crosscheck.models.nondeterminism import dependents
from ov_gather.crosscheck.models.outputs import off
from ov_gather.crosscheck.results import OutputResult, Status
from ov_gather.crosscheck.verdict import deviation_of, first_difference

SATURATED = "saturated-products"
QUANTISED = "quantised-otherwise"
_PRODUCTS = ("MatMulInteger", "ConvInteger")
_DYNAMIC = ("DynamicQuantizeLinear", "DynamicQuantizeLSTM")
_QUANTISING = (*_DYNAMIC, "QuantizeLinear")
_FEW = 0.1
"""The largest share of integers that may differ by one quantum: ties are rarer, and a wrong scale changes most elements."""
FARTHER = 2
"""How much farther than onnxruntime a runtime may be from the model in floats: in a chain, roundings are independent."""


def with_exact_products(model: onnx_ir.Model) -> onnx_ir.Model | None:
    """Return the model with products of bytes that no kernel saturates; None if it has no product of signed bytes.

    MatMulInteger(a, b, za, zb)  ->  MatMulInteger(a, u8(b + 128), za, u8(zb + 128))   the same for ConvInteger, and for a
    """
    changed = _typed_copy(model)
    rewriter, found = Rewriter(changed, Ranges(changed)), False
    for node in _nodes(changed, _PRODUCTS):
        for position in (0, 1):
            value = node.inputs[position]
            if value is None or value.dtype is not DataType.INT8:
                continue
            found = True
            zero = _input(node, position + 2)
            shifted = rewriter.constant(node, np.array(128, np.uint8)) if zero is None else _shifted(rewriter, node, zero)
            node.resize_inputs(max(len(node.inputs), position + 3))
            node.replace_input_with(position, _shifted(rewriter, node, value))
            node.replace_input_with(position + 2, shifted)
    return changed if found else None


def _shifted(rewriter: Rewriter, node: onnx_ir.Node, value: onnx_ir.Value) -> onnx_ir.Value:
    op = rewriter.before(node)
    moved = op.Add(op.Cast(value, to=DataType.INT32.value), rewriter.constant(node, np.array(128, np.int32)))
    shifted: onnx_ir.Value = op.Cast(moved, to=DataType.UINT8.value)
    return shifted


def without_quantisation(model: onnx_ir.Model) -> onnx_ir.Model | None:
    """Return the model without dynamic quantisation: numbers keep their fractions; None if it has none.

    q, s, z = DynamicQuantizeLinear(x)   ->  q = x / s + z, if products alone read q
    MatMulInteger(a, b, za, zb)          ->  MatMul(a - za, b - zb); the same for ConvInteger
    DynamicQuantizeLSTM(x, w, r, ...)    ->  LSTM(x, (w - zero point) * scale, ...)
    """
    changed = _typed_copy(model)
    rewriter, found = Rewriter(changed, Ranges(changed)), False
    for node in _nodes(changed, _DYNAMIC):
        if node.op_type == "DynamicQuantizeLSTM":
            _dequantise_lstm(rewriter, node)
            found = True
        elif all(use.node.op_type in _PRODUCTS and use.idx == 0 for use in node.outputs[0].uses()):
            (data, *_), (q, scale, zero) = node.inputs, node.outputs
            for product in [use.node for use in q.uses()]:
                op = rewriter.before(product)
                number = op.Add(op.Div(data, scale), op.Cast(zero, to=DataType.FLOAT.value))
                product.replace_input_with(0, number)
                _multiply_floats(rewriter, product)
                found = True
    return changed if found else None


def _multiply_floats(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    """Turn a product of integers into one of floats; its output stays an integer unless Casts alone read it."""
    op = rewriter.before(node)
    factors = []
    for position in (0, 1):
        value, zero = node.inputs[position], _input(node, position + 2)
        number = op.Cast(value, to=DataType.FLOAT.value)
        if zero is not None:
            zero = op.Cast(zero, to=DataType.FLOAT.value)
            if node.op_type == "ConvInteger" and position == 1 and value is not None and value.shape is not None:
                zero = op.Reshape(zero, rewriter.constant(node, [-1, *[1] * (len(value.shape) - 1)]))
            number = op.Sub(number, zero)
        factors.append(number)
    (output,) = node.outputs
    is_cast = not output.is_graph_output() and all(use.node.op_type == "Cast" for use in output.uses())
    attributes = {name: each.value for name, each in node.attributes.items()}
    operator = node.op_type.removesuffix("Integer")
    if is_cast:
        rewriter.become(node, operator, factors, **attributes)
        output.type = onnx_ir.TensorType(DataType.FLOAT)
    else:
        product = rewriter.insert(node, operator, factors, DataType.FLOAT, None, **attributes)
        rewriter.instead(node).Cast(op.Round(product), to=DataType.INT32.value)


def _dequantise_lstm(rewriter: Rewriter, node: onnx_ir.Node) -> None:
    op, attributes = rewriter.before(node), {name: each.value for name, each in node.attributes.items()}
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = rewriter.constant(node, [directions, 1, -1])
    weights = []
    for position, (scale, zero) in ((1, (8, 9)), (2, (10, 11))):
        number = op.Cast(node.inputs[position], to=DataType.FLOAT.value)
        if (point := _input(node, zero)) is not None:
            number = op.Sub(number, op.Reshape(op.Cast(point, to=DataType.FLOAT.value), rows))
        weights.append(op.Transpose(op.Mul(number, op.Reshape(node.inputs[scale], rows)), perm=[0, 2, 1]))
    inputs = [node.inputs[0], *weights, *(_input(node, position) for position in range(3, 8))]
    node.domain = ""
    rewriter.become(node, "LSTM", inputs, **attributes)


def excuse_quantisation(
    model: onnx_ir.Model,
    results: Sequence[OutputResult],
    expected: Sequence[NDArray[Any]],
    floats: Sequence[NDArray[Any]] | None,
    found: Sequence[NDArray[Any]],
) -> tuple[OutputResult, ...]:
    """Excuse failed outputs behind a quantisation that differ by less than the quantisation changes them.

    Floats are compared with those of the model without quantisation (`floats`) by `within_quantisation`; integers may differ by
    one quantum in few elements. Outputs with a tolerance of the user are not excused.
    """
    behind = dependents(model, _nodes(model, _QUANTISING))
    return tuple(
        result
        if result.comparison.passed or result.comparison.tolerance or i >= len(found) or result.name not in behind
        else _excused(result, expected[i], None if floats is None else floats[i], found[i])
        for i, result in enumerate(results)
    )


def _excused(result: OutputResult, expected: NDArray[Any], exact: NDArray[Any] | None, found: NDArray[Any]) -> OutputResult:
    deviation = deviation_of(expected, found)
    if deviation is None or deviation.not_finite:
        return result
    if expected.dtype.kind in "iu":
        if not _is_one_quantum(deviation):
            return result
        words = _words(deviation)
    else:
        words = "" if exact is None else within_quantisation(expected, exact, found, result.comparison.runtime)
        if not words:
            return result
    detail = f"{result.comparison.detail}; {words}"
    return replace(
        result, comparison=replace(result.comparison, status=Status.EXPECTED, detail=detail, divergences=(QUANTISED,))
    )


def within_quantisation(expected: NDArray[Any], exact: NDArray[Any], found: NDArray[Any], runtime: str) -> str:
    """Return how floats of a runtime relate to what quantisation changes, for people.

    `expected` is what onnxruntime computes, `exact` the same without quantisation. Return "" if the runtime differs from
    onnxruntime by more than that, and is more than FARTHER times as far from `exact`.
    """
    if expected.dtype.kind != "f" or not exact.shape == expected.shape == found.shape:
        return ""
    apart, here, there = off(expected, found), off(exact, found), off(exact, expected)
    if not np.isfinite(there) or (apart > there and here > FARTHER * there):
        return ""
    nearer = runtime if here < there else "onnxruntime"
    return (
        f"{'less' if apart <= there else 'more'} than its quantisation changes ({there:.2g}); {nearer} is nearer to the model "
        f"in floats: max abs {here:.2g} for {runtime}, {there:.2g} for onnxruntime"
    )


def _is_one_quantum(deviation: Deviation) -> bool:
    return deviation.max_abs == 1 and deviation.differing <= max(1, _FEW * deviation.size)


def quantum(node_type: str, deviation: Deviation | None) -> str:
    """Return what a quantisation leaves open of its integers, for people; "" if the difference is none of one quantum."""
    if node_type not in ("QuantizeLinear", "DynamicQuantizeLinear") or deviation is None or not _is_one_quantum(deviation):
        return ""
    return _words(deviation)


def _words(deviation: Deviation) -> str:
    return f"one quantum in {deviation.differing / deviation.size:.2%} of the elements, where a quantisation rounds"


def say_saturated(
    results: Sequence[OutputResult], saturated: Sequence[NDArray[Any]], exact: Sequence[NDArray[Any]]
) -> tuple[OutputResult, ...]:
    """Mark the outputs that passed beside exact products, and would not have beside those of onnxruntime."""
    marked = []
    for result, one, other in zip(results, saturated, exact, strict=True):
        comparison, difference = result.comparison, first_difference(other, one)
        if comparison.passed and difference:
            detail = f"{comparison.detail}; onnxruntime saturates products of bytes: {difference}"
            names = (SATURATED, *comparison.divergences)
            result = replace(result, comparison=replace(comparison, status=Status.EXPECTED, detail=detail, divergences=names))
        marked.append(result)
    return tuple(marked)


def _nodes(model: onnx_ir.Model, operators: Sequence[str]) -> Iterator[onnx_ir.Node]:
    return iter([node for node in model.graph.all_nodes() if node.op_type in operators and node.domain in ("", _CONTRIB)])


_CONTRIB = "com.microsoft"


def _typed_copy(model: onnx_ir.Model) -> onnx_ir.Model:
    changed = model.clone()
    infer_shapes(changed)
    return changed


def _input(node: onnx_ir.Node, position: int) -> onnx_ir.Value | None:
    return node.inputs[position] if position < len(node.inputs) else None
