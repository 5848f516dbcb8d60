"""`convert_model` on forms of Unique, TopK and NonZero: of ties, limits and nothing, in static and open shapes.

The oracle is onnxruntime without optimisations. A result is right, or reported, or the model is refused. A crash is a finding.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from helpers.converted_nodes import check_conversion

TRIALS = 60
SECONDS = 60
MODELS = 6
"""Models that one seed tries."""
TYPES = {
    "NonZero": ("bool", "float32", "int32", "int64", "uint8"),
    "TopK": ("float32", "int32", "int64"),
    "Unique": ("float32", "int8", "int64"),
}
"""Element types for which onnxruntime has kernels."""
SIZES = (0, 1, 1, 2, 3, 5)

Made = tuple[list[onnx.NodeProto], list[str]]


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Convert and execute some models of one search, maybe behind layers that OpenVINO removes or moves."""
    for _ in range(MODELS):
        operator = str(rng.choice(list(TYPES)))
        data = _numbers(rng, str(rng.choice(TYPES[operator])), rng.choice(SIZES, rng.integers(1, 4)))
        nodes, source = _layers(rng, data)
        found, outputs = {"NonZero": _non_zero, "TopK": _topk, "Unique": _unique}[operator](rng, source, data)
        is_open = bool(rng.integers(2))
        shape = [f"d{axis}" if is_open else size for axis, size in enumerate(data.shape)]
        given = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(data.dtype), shape)]
        made = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph([*nodes, *found], "g", given, made)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        for inferred in onnx.shape_inference.infer_shapes(model).graph.output:
            next(value for value in model.graph.output if value.name == inferred.name).CopyFrom(inferred)
        check_conversion(model, [data], f"{onnx.printer.to_text(model)} of {data.tolist()}")


def _numbers(rng: np.random.Generator, dtype: str, shape: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return few different numbers, limits among them; NaN where it is no order that decides."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == "float32":
        values = np.float32([0, 1, 1.5, -2, np.inf, -np.inf, 3e38, 1e-40])
    else:
        limits = np.iinfo("int32" if dtype == "int64" else dtype)
        values = np.array([0, 1, 2, 3, limits.max, limits.max - 1, limits.min], dtype)
    return np.asarray(rng.choice(rng.choice(values, 4), shape))


def _layers(rng: np.random.Generator, data: NDArray[np.generic]) -> Made:
    """Return no layer, or one that changes nothing, or the order of the axes."""
    kinds = {
        "Identity": {},
        "Transpose": {"perm": [int(axis) for axis in rng.permutation(data.ndim)]},
        "Cast": {"to": helper.np_dtype_to_tensor_dtype(data.dtype)},
    }
    kind = str(rng.choice(["", *kinds]))
    return ([helper.make_node(kind, ["x"], ["s"], **kinds[kind])], "s") if kind else ([], "x")


def _non_zero(rng: np.random.Generator, source: str, data: NDArray[np.generic]) -> Made:
    nodes = [helper.make_node("NonZero", [source], ["n"])]
    if rng.integers(2):
        return nodes, ["n"]
    return [*nodes, helper.make_node("Transpose", ["n"], ["t"]), helper.make_node("GatherND", [source, "t"], ["y"])], ["y"]


def _topk(rng: np.random.Generator, source: str, data: NDArray[np.generic]) -> Made:
    """Return a TopK of a constant or computed number; an order that is left open is sorted by another one."""
    axis = int(rng.integers(-data.ndim, data.ndim))
    count = int(rng.integers(0, min(data.shape) + 1))
    nodes = [helper.make_node("Constant", [], ["k"], value_ints=[count])]
    if rng.integers(2):
        nodes += [
            helper.make_node("Shape", [source], ["sizes"]),
            helper.make_node("ReduceMin", ["sizes"], ["least"], keepdims=1),
            helper.make_node("Min", ["k", "least"], ["count"]),
        ]
    order = {"axis": axis, "largest": int(rng.integers(2))}
    count_name = "count" if len(nodes) > 1 else "k"
    if rng.integers(4):
        return [*nodes, helper.make_node("TopK", [source, count_name], ["v", "i"], **order)], _some(rng, ["v", "i"])
    nodes += [
        helper.make_node("TopK", [source, count_name], ["u", "j"], sorted=0, **order),
        helper.make_node("TopK", ["u", count_name], ["v", "i"], **order),
    ]
    return nodes, ["v"]


def _unique(rng: np.random.Generator, source: str, data: NDArray[np.generic]) -> Made:
    attributes = {"sorted": int(rng.integers(2))}
    if rng.integers(2) and data.size:  # onnxruntime dies of slices of nothing
        attributes["axis"] = int(rng.integers(-data.ndim, data.ndim))
    outputs = _some(rng, ["y", "first", "inverse", "counts"])
    names = [name if name in outputs else "" for name in ("y", "first", "inverse", "counts")]
    names[0] = names[0] or "y"
    return [helper.make_node("Unique", [source], names, **attributes)], outputs


def _some(rng: np.random.Generator, names: list[str]) -> list[str]:
    return [name for name in names if rng.integers(2)] or names[:1]
