"""A random ONNX model of each seed, whose gathers and scatters have computed indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper

from helpers.onnx_operators import Runner
from helpers.random_indices import Inputs
from helpers.random_onnx import OPSET, TYPES, Builder
from helpers.random_onnx_nodes import MOVES, SITES, VALUES


@dataclass
class OnnxSample(Inputs):
    model: onnx.ModelProto


def sample(seed: int) -> OnnxSample:
    """The random model of a seed: some operations, then a gather or scatter, and so on."""
    rng = np.random.default_rng(seed)
    sizes = {name: [(0, 9), (1, 9), (2, 6)][int(rng.integers(3))] for name in "AB"[: int(rng.integers(0, 3))]}
    builder = Builder(rng, Runner(OPSET), sizes)
    for kind in ("i64", "f32", builder.pick("i64", "i32", "boolean", "u8", "f32")):
        builder.input(kind)
    for _ in range(int(rng.integers(1, 4))):
        for _ in range(int(rng.integers(1, 6))):
            builder.pick(*builder.pick(VALUES, MOVES))(builder)
        builder.pick(*SITES)(builder)
    return OnnxSample(builder.inputs, sizes, _model(builder, seed))


def _model(builder: Builder, seed: int) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(given.name, helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[given.kind])), given.dims)
        for given in builder.inputs
    ]
    made = [name for node in builder.nodes for name in node.output]
    types = [helper.np_dtype_to_tensor_dtype(builder.values[name].dtype) for name in made]
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(made, types, strict=True)]
    graph = helper.make_graph(builder.nodes, f"random{seed}", inputs, outputs, builder.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
