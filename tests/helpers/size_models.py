"""Models of OpenVINO and of ONNX that gather by arithmetic of sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import openvino as ov
from openvino import opset1, opset7

from helpers.random_graphs import Builder, Given, Value
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import OpenvinoBuilder
from helpers.size_arithmetic import Tree

SITE = "site"
GATHERS: Mapping[str, Any] = {"Gather-1": opset1, "Gather-7": opset7, "Gather-8": None}


class Model:
    """One gather, whose index is a tree, from data along its first axis."""

    def __init__(self, builder: Builder, sources: Sequence[Given], kind: str, index: Tree, data: Tree, gather: str) -> None:
        self.sources, self.kind, self.index, self.gather = sources, kind, index, gather
        self._b, self._made = builder, dict[Tree, Value]()
        self._inputs = {source.name: builder.parameter(source.kind, source.dims, source.name) for source in sources}
        self.indices = self._node(index)
        table = self._inputs[data.detail]
        if data.name != "input":
            table = builder.make("reshape", table, builder.longs(-1), False, dims=())
        self.site = builder.make("gather", table, self.indices, self._constant(0), opset=GATHERS[gather])

    def _constant(self, number: int) -> Value:
        return self._b.constant(number, self.kind)

    def _node(self, tree: Tree) -> Value:
        if tree not in self._made:
            self._made[tree] = self._new(tree, [self._node(operand) for operand in tree.operands])
        return self._made[tree]

    def _element(self, vector: Value, position: int) -> Value:
        return self._b.make("gather", vector, self._b.constant(position, "i64"), self._b.constant(0, "i64"), dims=())

    def _new(self, tree: Tree, operands: list[Value]) -> Value:
        b, detail = self._b, tree.detail
        match tree.name:
            case "constant":
                return self._constant(detail)
            case "number":
                return b.make("convert", self._inputs[detail], self.kind)
            case "dim":
                return self._element(b.make("shape_of", self._inputs[detail[0]], self.kind), detail[1])
            case "count":
                return b.elements(self._inputs[detail], self.kind)
            case "true":
                places = b.make("non_zero", self._inputs[detail], self.kind, dims=())
                return self._element(b.make("shape_of", places, self.kind), 1)
            case "places":
                return self._element(b.make("non_zero", self._inputs[detail[0]], self.kind, dims=()), detail[1])
            case "range":
                return b.make("range", self._constant(0), operands[0], self._constant(detail), self.kind)
            case "convert":
                return b.make("convert", b.make("convert", operands[0], detail), self.kind)
            case "select":
                return b.make("select", b.make("less", *operands[:2]), *operands[2:])
            case "divide":
                return b.make("divide", operands[0], self._constant(detail))
            case "remainder":
                return b.make("floor_mod", operands[0], self._constant(detail))
        return b.make({"absolute": "abs"}.get(tree.name, tree.name), *operands)


class OpenvinoModel(Model):
    """A model of OpenVINO, whose CPU plugin computes in 32 bits and counts back."""

    computed, counts_back = "i32", True

    def __init__(self, sources: Sequence[Given], kind: str, index: Tree, data: Tree, gather: str) -> None:
        self._b: OpenvinoBuilder
        super().__init__(OpenvinoBuilder(np.random.default_rng(), {}), sources, kind, index, data, gather)
        self.site.handle.get_node().set_friendly_name(SITE)
        self.model = ov.Model([self.site.handle], self._b.parameters, "sizes")

    def of_indices(self) -> ov.Model:
        """Return the model that computes the indices alone."""
        return ov.Model([self.indices.handle], self._b.parameters, "indices")


class OnnxModel(Model):
    """An ONNX model."""

    counts_back = False

    def __init__(self, sources: Sequence[Given], kind: str, index: Tree, data: Tree) -> None:
        self._b: OnnxBuilder
        super().__init__(OnnxBuilder(np.random.default_rng(), {}, None), sources, kind, index, data, "Gather-8")
        self._b.nodes[-1].name = SITE
        self.computed = kind
        types = {source.name: source.kind for source in sources}
        self.model = self._b.model("sizes", [replace(self.site, kind=types[data.detail])])

    def of_indices(self) -> onnx.ModelProto:
        """Return the model that computes the indices alone."""
        return self._b.model("indices", [replace(self.indices, kind=self.kind)], self._b.nodes[:-1])
