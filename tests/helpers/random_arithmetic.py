"""Random ONNX models of index arithmetic: integers, booleans, casts and shapes, constant or not, before gathers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper

from helpers.arithmetic_builder import OPSET, TYPES, Arithmetic, kind_of
from helpers.arithmetic_moves import MOVES
from helpers.arithmetic_nodes import VALUES
from helpers.onnx_operators import Runner, operands_of

SIZE = 128  # of the table that is gathered from, which takes indices from -SIZE to SIZE - 1


@dataclass(frozen=True)
class Sample:
    """A model, arrays for its inputs, what each output and each other value must be, and the largest number before each."""

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]
    largest: dict[str, float]
    values: dict[str, np.ndarray]


def sample(rng: np.random.Generator) -> Sample:
    """A model with some arithmetic, and a gather at each end of it."""
    sizes = {name: (int(rng.integers(1, 4)),) * 2 for name in "AB"}
    b = Arithmetic(rng, Runner(OPSET), sizes)
    for kind in ("i64", b.pick("i32", "i64", "boolean", "u8", "f32", "i8"))[: b.pick(1, 1, 2)]:
        b.given(kind, [b.pick("A", "B", 1, 2, 3, 3) for _ in range(b.pick(0, 1, 1, 2))])
    for _ in range(int(rng.integers(3, 15))):
        b.pick(*VALUES, *MOVES)(b)
    used = {name for node in b.nodes for name in node.input}
    for name in [name for node in list(b.nodes) if node.op_type != "Constant" for name in node.output if name not in used]:
        gather(b, name)
    return _finished(b)


def gather(b: Arithmetic, name: str) -> None:
    """Gather from a table by what was computed, which is brought into range where it is not."""
    index: str | None = name
    if b.values[name].dtype not in (np.int64, np.int32):
        index = b.add("Cast", [name], to=TensorProto.INT64)
    if index is None or not b.values[index].size:
        return
    if b.values[index].min() < -SIZE or b.values[index].max() >= SIZE:
        index = b.add("Mod", [index, b.stated(np.array(SIZE, b.values[index].dtype))])
    if index is None:
        return
    table = b.stated(np.arange(SIZE, dtype=np.float32) + 1)
    way = b.pick("Gather", "Gather", "GatherElements", "GatherND")
    if way == "GatherElements":
        index = b.add("Reshape", [index, b.longs(-1)])
    if way == "GatherND":
        index = b.add("Unsqueeze", [index, b.longs(-1)])
        index = index and b.add("Cast", [index], to=TensorProto.INT64)
    if index:
        b.add(way, [table, index])


def _finished(b: Arithmetic) -> Sample:
    used = {name for node in b.nodes for name in node.input}
    ends = [name for node in b.nodes if node.op_type.startswith("Gather") for name in node.output if name not in used]
    inputs = [
        helper.make_tensor_value_info(given.name, helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[given.kind])), given.dims)
        for given in b.inputs
    ]
    outputs = [helper.make_tensor_value_info(name, kind_of(b.values[name]), [None] * b.values[name].ndim) for name in ends]
    graph = helper.make_graph(b.nodes, "arithmetic", inputs, outputs, b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    largest: dict[str, float] = {}
    for name, array in b.values.items():
        node = next((node for node in b.nodes if name in node.output), None)
        sources = [] if node is None else [one for one in operands_of(node) if one in largest]
        own = float(abs(array.astype(np.float64)).max()) if array.size else 0.0
        largest[name] = max([own, *(largest[one] for one in sources)])
    feed = {given.name: b.values[given.name] for given in b.inputs}
    return Sample(model, feed, {name: b.values[name] for name in ends}, largest, b.values)
