"""The emitter of random graphs as ONNX models.

Each node is executed as soon as it is made: where onnxruntime refuses it, for whatever reason, it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from helpers.onnx_operators import Runner, operands_of
from helpers.random_graphs import Builder, Dim, Given, Value

TYPES = {
    **{"i64": "int64", "i32": "int32", "boolean": "bool", "f32": "float32"},
    **{"u8": "uint8", "i8": "int8", "i16": "int16", "u16": "uint16", "u32": "uint32", "u64": "uint64"},
}
KINDS = {dtype: kind for kind, dtype in TYPES.items()}
NAMES = {
    **{"subtract": "Sub", "multiply": "Mul", "minimum": "Min", "maximum": "Max", "divide": "Div", "negative": "Neg"},
    **{"ceiling": "Ceil", "select": "Where", "less_equal": "LessOrEqual", "greater_equal": "GreaterOrEqual"},
    **{"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not", "is_nan": "IsNaN"},
    **{"is_inf": "IsInf", "reduce_logical_and": "ReduceMin", "reduce_logical_or": "ReduceMax"},
}
"""Operators whose name in ONNX is not that of OpenVINO, in other letters."""
ATTRIBUTES: dict[str, tuple[str, tuple[str, ...]]] = {
    **{"round": ("Round", ()), "reshape": ("Reshape", ()), "matmul": ("MatMul", ()), "broadcast": ("Expand", ())},
    **{"softmax": ("Softmax", ("axis",)), "cum_sum": ("CumSum", ("exclusive", "reverse"))},
    **{"concat": ("Concat", ("axis",)), "einsum": ("Einsum", ("equation",))},
    **{"gather_elements": ("GatherElements", ("axis",)), "gather_nd": ("GatherND", ("batch_dims",))},
    **{"scatter_nd_update": ("ScatterND", ("reduction",))},
}
"""Operators whose operands that are no values become attributes, or nothing."""
LARGEST = 400


def code(kind: str) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[kind])))


class OnnxBuilder(Builder):
    """A Builder of ONNX nodes, with the array that each value is for one choice of inputs; without a runner, of nodes alone."""

    opset = 20
    integers = ("i64", "i64", "i64", "i32")
    numbers = (*integers, "f32", "f32", "u8")
    moved = (*numbers, "boolean")
    casts = ("i64", "i64", "i64", "i32", "f32", "u8")
    of_fractions = (*Builder.of_fractions, "relu", "erf")
    shares, between = (60, 40, 12), (1, 8)
    far = (*Builder.far, 2**31, 2**62)

    def __init__(self, rng: np.random.Generator, sizes: dict[str, tuple[int, int]], runner: Runner | None) -> None:
        super().__init__(rng, sizes)
        self.runner = runner
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.arrays: dict[str, np.ndarray] = {}

    def parameter(self, kind: str, dims: Sequence[Dim], name: str = "") -> Value:
        given = Given(name or f"x{len(self.inputs)}", kind, tuple(dims))
        self.inputs.append(given)
        return self.offer(self._of(given.name, self.example(kind, [self.example_size(dim) for dim in dims])))

    def example(self, kind: str, shape: Sequence[int]) -> np.ndarray:
        """Return an array for an input."""
        return np.asarray(self.rng.integers(0, 3, shape).astype(TYPES[kind]))

    def example_size(self, dim: Dim) -> int:
        return dim if isinstance(dim, int) else 2 + len(dim) + ord(dim[0]) % 3

    def constant(self, elements: Any, kind: str) -> Value:
        array = self.cast(elements, TYPES[kind])
        tensor = numpy_helper.from_array(array, f"c{len(self.constants) + len(self.nodes)}")
        self.state(tensor)
        self.arrays[tensor.name] = array
        return Value(tensor.name, kind, array.shape)

    def state(self, tensor: onnx.TensorProto) -> None:
        """Add a constant to the graph."""
        self.constants.append(tensor)

    def offer(self, value: Value) -> Value:
        self.values.append(value)
        return value

    def array(self, value: Value) -> np.ndarray:
        return self.arrays[value.handle]

    def dims_of(self, array: np.ndarray) -> tuple[Dim, ...]:
        """Name sizes, which are others in other trials."""
        return tuple(1 if size == 1 else f"?{size}" for size in array.shape)

    def _of(self, name: str, array: np.ndarray) -> Value:
        self.arrays[name] = array
        return Value(name, KINDS[str(array.dtype)], self.dims_of(array))

    def node(self, operator: str, operands: Sequence[Value | None], outputs: int = 1, **attributes: Any) -> list[Value]:
        """Add a node and return its outputs. Raises RuntimeError if it cannot be executed, or yields too much."""
        names = [f"n{len(self.nodes)}_{position}" for position in range(outputs)]
        node = helper.make_node(operator, [one.handle if one else "" for one in operands], names, **attributes)
        node.name = f"{len(self.nodes)}_{operator}"
        if self.runner is None:
            self.nodes.append(node)
            return [Value(name, "i64", ()) for name in names]
        results = self.runner.run(node, self.arrays) if self.is_defined(node) else None
        if results is None or not all(map(self.takes, results)):
            raise RuntimeError(f"{operator} is refused")
        self.nodes.append(node)
        return [self._of(name, array) for name, array in zip(names, results, strict=True)]

    def takes(self, array: np.ndarray) -> bool:
        """Return True if a value may be in the graph."""
        return array.size <= LARGEST and array.ndim <= 4

    def is_defined(self, node: onnx.NodeProto) -> bool:
        """Return True if ONNX says what a node computes."""
        return True

    def outputs(self, name: str, *operands: Any, dims: Sequence[Dim] | None = None, opset: Any = None) -> list[Value]:
        emit = getattr(self, f"_{name}", None)
        if emit is not None:
            found = emit(*operands)
            return found if isinstance(found, list) else [found]
        if name in ATTRIBUTES:
            return self._with_attributes(*ATTRIBUTES[name], operands)
        operator = NAMES.get(name) or name.title().replace("_", "")
        if name.startswith("reduce_"):
            return self.node(operator, operands[:2], keepdims=int(operands[2]))
        return self.node(operator, operands)

    def _with_attributes(self, operator: str, names: Sequence[str], operands: Sequence[Any]) -> list[Value]:
        listed = operands[0] if isinstance(operands[0], list) else [one for one in operands if isinstance(one, Value)]
        others = [one for one in operands if not isinstance(one, Value | list)]
        if operator.endswith("ND"):
            listed[1] = self.as_kind(listed[1], "i64")
        given = [int(other) if isinstance(other, bool) else other for other in others]
        return self.node(operator, listed, **dict(zip(names, given, strict=False)))

    def one(self, operator: str, *operands: Value | None, **attributes: Any) -> Value:
        return self.node(operator, operands, **attributes)[0]

    def named(self, names: Sequence[str]) -> list[Value]:
        """Return values by their names."""
        return [self._of(name, self.arrays[name]) for name in names]

    def declared(self, output: Value) -> list[None] | None:
        """Return the shape that the model declares of an output: none, as even its rank may be another in other trials."""
        return None

    def width(self, value: Value) -> int:
        return int(self.array(value).shape[-1])

    def model(self, name: str, outputs: Sequence[Value], nodes: Sequence[onnx.NodeProto] | None = None) -> onnx.ModelProto:
        """Return the model of some nodes, or of all, and of the constants that they take, with these outputs."""
        inputs = [helper.make_tensor_value_info(one.name, code(one.kind), one.dims) for one in self.inputs]
        results = [helper.make_tensor_value_info(one.handle, code(one.kind), self.declared(one)) for one in outputs]
        used = {operand for node in self.nodes for operand in operands_of(node)}
        nodes = [
            node for node in (self.nodes if nodes is None else nodes) if node.op_type != "Constant" or node.output[0] in used
        ]
        constants = [tensor for tensor in self.constants if tensor.name in used]
        graph = helper.make_graph(nodes, name, inputs, results, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)

    def elements(self, value: Value, kind: str) -> Value:
        """Return the number of elements of a value."""
        return self._in_type(self.one("Size", value), kind)

    # ---- operations whose operands or attributes are not those of OpenVINO

    def _line_of(self, scalar: Value) -> Value:
        return self.one("Reshape", scalar, self.longs(1))

    def _convert(self, x: Value, kind: str) -> Value:
        return self.one("Cast", x, to=code(kind))

    def _in_type(self, x: Value, kind: str) -> Value:
        return x if kind == "i64" else self._convert(x, kind)

    def _not_equal(self, x: Value, y: Value) -> Value:
        return self.one("Not", self.one("Equal", x, y))

    def _clamp(self, x: Value, low: float, high: float) -> Value:
        if x.kind != "f32":
            limits = np.iinfo(TYPES[x.kind])
            low, high = int(max(low, limits.min)), int(min(high, limits.max))
        return self.one("Clip", x, self.constant(low, x.kind), self.constant(high, x.kind))

    def _floor_mod(self, x: Value, y: Value) -> Value:
        return self.one("Mod", x, y, fmod=int(x.kind == "f32"))

    def _mod(self, x: Value, y: Value) -> Value:
        return self.one("Mod", x, y, fmod=1)

    def _shape_of(self, x: Value, kind: str) -> Value:
        return self._in_type(self.one("Shape", x), kind)

    def _range(self, start: Value, stop: Value, step: Value, kind: str) -> Value:
        line = self.one("Range", start, stop, step)
        return line if line.kind == kind or self.runner is None else self._convert(line, kind)

    def _non_zero(self, x: Value, kind: str) -> Value:
        return self._in_type(self.one("NonZero", x), kind)

    def _topk(self, x: Value, k: Value, axis: int, mode: str, sort: str, kind: str) -> list[Value]:
        count = self._line_of(self.as_kind(k, "i64"))
        values, places = self.node("TopK", [x, count], 2, axis=axis, largest=int(mode == "max"))
        return [values, self._in_type(places, kind)]

    def _one_hot(self, x: Value, depth: Value, on: Value, off: Value, axis: int) -> Value:
        ends = self.constant(np.stack([self.array(off), self.array(on)]), on.kind)
        return self.one("OneHot", x, depth, ends, axis=axis)

    def _unique(self, x: Value, axis: None, is_sorted: bool, kind: str, counts: str) -> list[Value]:
        return self.node("Unique", [x], 4, sorted=int(is_sorted))

    def _transpose(self, x: Value, order: Value) -> Value:
        return self.one("Transpose", x, perm=self.array(order).tolist())

    def _slice(self, x: Value, start: Value, stop: Value, step: Value, axis: Value) -> Value:
        start, stop, step, axis = (self.as_kind(one, "i64") for one in (start, stop, step, axis))
        return self.one("Slice", x, start, stop, axis, step)

    def _split(self, x: Value, axis: Value, count: int) -> list[Value]:
        return self.node("Split", [x], count, axis=int(self.array(axis)), num_outputs=count)

    def _variadic_split(self, x: Value, axis: Value, lengths: Value) -> list[Value]:
        return self.node("Split", [x, lengths], self.array(lengths).size, axis=int(self.array(axis)))

    def _pad(self, x: Value, before: Value, after: Value, mode: str, *filling: Value) -> Value:
        amounts = self.longs(*self.array(before).tolist(), *self.array(after).tolist())
        return self.one("Pad", x, amounts, *filling, mode=mode)

    def _gather(self, x: Value, index: Value, axis: Value) -> Value:
        return self.one("Gather", x, index, axis=int(self.array(axis)))

    def _scatter_elements_update(
        self, x: Value, index: Value, updates: Value, axis: Value, reduction: str = "none", use_init: bool = True
    ) -> Value:
        return self.one("ScatterElements", x, index, updates, axis=int(self.array(axis)), reduction=reduction)
