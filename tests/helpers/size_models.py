"""Models of OpenVINO and of ONNX that gather by arithmetic of sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import openvino as ov
from onnx import TensorProto, helper, numpy_helper
from openvino import opset1, opset7
from openvino import opset16 as ops

from helpers.size_arithmetic import Source, Tree

SITE = "site"
DTYPES = {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "f32": np.float32}
ONNX_TYPES = {
    "i8": TensorProto.INT8,
    "u8": TensorProto.UINT8,
    "i32": TensorProto.INT32,
    "i64": TensorProto.INT64,
    "f32": TensorProto.FLOAT,
}
GATHERS: Mapping[str, Callable[..., Any]] = {"Gather-1": opset1.gather, "Gather-7": opset7.gather, "Gather-8": ops.gather}


class OpenvinoModel:
    """A model of OpenVINO: one gather, whose index is a tree, from data along its first axis."""

    def __init__(self, sources: Sequence[Source], kind: str, index: Tree, data: Tree, gather: str) -> None:
        self._kind, self._made = kind, dict[Tree, Any]()
        self._inputs = {source.name: self._parameter(source) for source in sources}
        self.indices = self._node(index)
        table = self._inputs[data.detail] if data.name == "input" else self._flat(data.detail)
        site = GATHERS[gather](table, self.indices, self._constant(0))
        site.set_friendly_name(SITE)
        self.model = ov.Model([site], list(self._inputs.values()), "sizes")

    def of_indices(self) -> ov.Model:
        """Return the model that computes the indices alone."""
        return ov.Model([self.indices], list(self._inputs.values()), "indices")

    def _parameter(self, source: Source) -> Any:
        shape = ov.PartialShape([-1 if dim is None else dim for dim in source.dims])
        parameter = ops.parameter(shape, DTYPES[source.kind], name=source.name)
        parameter.output(0).set_names({source.name})
        return parameter

    def _flat(self, name: str) -> Any:
        return ops.reshape(self._inputs[name], ops.constant(np.array([-1])), False)

    def _constant(self, number: int) -> Any:
        return ops.constant(DTYPES[self._kind](number))

    def _node(self, tree: Tree) -> Any:
        if tree not in self._made:
            self._made[tree] = self._new(tree, [self._node(operand) for operand in tree.operands])
        return self._made[tree]

    def _size(self, value: Any, axis: int) -> Any:
        return ops.gather(ops.shape_of(value, self._kind), ops.constant(np.int64(axis)), ops.constant(np.int64(0)))

    def _new(self, tree: Tree, operands: list[Any]) -> Any:
        match tree.name:
            case "constant":
                return self._constant(tree.detail)
            case "number":
                return ops.convert(self._inputs[tree.detail], self._kind)
            case "dim":
                return self._size(self._inputs[tree.detail[0]], tree.detail[1])
            case "count":
                return ops.reduce_prod(ops.shape_of(self._inputs[tree.detail], self._kind), ops.constant(np.array([0])), False)
            case "true":
                return self._size(ops.non_zero(self._inputs[tree.detail], self._kind), 1)
            case "places":
                places = ops.non_zero(self._inputs[tree.detail[0]], self._kind)
                return ops.gather(places, ops.constant(np.int64(tree.detail[1])), ops.constant(np.int64(0)))
            case "range":
                return ops.range(self._constant(0), operands[0], self._constant(tree.detail), self._kind)
            case "convert":
                return ops.convert(ops.convert(operands[0], tree.detail), self._kind)
            case "select":
                return ops.select(ops.less(operands[0], operands[1]), *operands[2:])
            case "divide":
                return ops.divide(operands[0], self._constant(tree.detail))
            case "remainder":
                return ops.floor_mod(operands[0], self._constant(tree.detail))
        return getattr(ops, {"absolute": "abs"}.get(tree.name, tree.name))(*operands)


class OnnxModel:
    """An ONNX model: one Gather, whose index is a tree, from data along its first axis."""

    def __init__(self, sources: Sequence[Source], kind: str, index: Tree, data: Tree) -> None:
        self._kind, self._sources, self._made = kind, sources, dict[Tree, str]()
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._index = self._name_of(index)
        self._inner = list(self._nodes)
        table = data.detail if data.name == "input" else self._add("Reshape", data.detail, self._constant([-1], "i64"))
        self._nodes.append(helper.make_node("Gather", [table, self._index], ["gathered"], name=SITE, axis=0))
        by_name = {source.name: source for source in sources}
        self._rank = int(any(tree.name in ("range", "places") for tree in index))
        rank = self._rank + (len(by_name[data.detail].dims) if data.name == "input" else 1) - 1
        self.model = self._model(self._nodes, "gathered", by_name[data.detail].kind, rank)

    def of_indices(self) -> onnx.ModelProto:
        """Return the model that computes the indices alone."""
        return self._model(self._inner, self._index, self._kind, self._rank)

    def _model(self, nodes: list[onnx.NodeProto], name: str, kind: str, rank: int) -> onnx.ModelProto:
        output = helper.make_tensor_value_info(name, ONNX_TYPES[kind], [f"{name}_{axis}" for axis in range(rank)])
        inputs = [
            helper.make_tensor_value_info(
                source.name,
                ONNX_TYPES[source.kind],
                [f"{source.name}_{axis}" if dim is None else dim for axis, dim in enumerate(source.dims)],
            )
            for source in self._sources
        ]
        graph = helper.make_graph(nodes, "sizes", inputs, [output], self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    def _constant(self, number: Any, kind: str = "") -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.array(number, DTYPES[kind or self._kind]), name))
        return name

    def _add(self, kind: str, *operands: str, **attributes: Any) -> str:
        name = f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(operands), [name], **attributes))
        return name

    def _cast(self, name: str, kind: str) -> str:
        return self._add("Cast", name, to=ONNX_TYPES[kind])

    def _name_of(self, tree: Tree) -> str:
        if tree not in self._made:
            self._made[tree] = self._new(tree, [self._name_of(operand) for operand in tree.operands])
        return self._made[tree]

    def _size(self, value: str, axis: int) -> str:
        return self._cast(self._add("Gather", self._add("Shape", value), self._constant(axis, "i64"), axis=0), self._kind)

    def _new(self, tree: Tree, operands: list[str]) -> str:
        match tree.name:
            case "constant":
                return self._constant(tree.detail)
            case "number":
                return self._cast(tree.detail, self._kind)
            case "dim":
                return self._size(*tree.detail)
            case "count":
                return self._cast(self._add("Size", tree.detail), self._kind)
            case "true":
                return self._size(self._add("NonZero", tree.detail), 1)
            case "places":
                places = self._add("NonZero", tree.detail[0])
                return self._cast(self._add("Gather", places, self._constant(tree.detail[1], "i64"), axis=0), self._kind)
            case "range":
                return self._add("Range", self._constant(0), operands[0], self._constant(tree.detail))
            case "convert":
                return self._cast(self._cast(operands[0], tree.detail), self._kind)
            case "select":
                return self._add("Where", self._add("Less", *operands[:2]), *operands[2:])
            case "divide":
                return self._add("Div", operands[0], self._constant(tree.detail))
            case "remainder":
                return self._add("Mod", operands[0], self._constant(tree.detail))
        names = {"multiply": "Mul", "subtract": "Sub", "add": "Add", "minimum": "Min", "maximum": "Max"}
        return self._add({**names, "negative": "Neg", "absolute": "Abs"}[tree.name], *operands)
