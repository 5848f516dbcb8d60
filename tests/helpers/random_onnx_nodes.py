"""The nodes of random ONNX models: arithmetic, shapes, and gathers and scatters as models have them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, parser

from helpers.random_onnx import Builder

INTEGERS = ("i64", "i64", "i64", "i32")
NUMBERS = (*INTEGERS, "f32", "f32", "u8")
ANY = (*NUMBERS, "boolean")


def binary(b: Builder) -> None:
    name = b.value(*NUMBERS)
    if name is not None:
        operands = [name, b.operand(name)]
        b.add(b.pick("Add", "Sub", "Mul", "Min", "Max"), operands if b.chance(0.7) else operands[::-1])


def division(b: Builder) -> None:
    """A division, or a remainder of either sign. The process ends of a division by zero, which is left out."""
    name = b.value(*INTEGERS, "f32")
    if name is None:
        return
    by = b.constant(b.pick(1, 2, 3, 7, -2, -3), b.kind(name))
    if b.kind(name) == "i64" and b.chance(0.4):
        by = b.add("Max", [b.size(), b.constant(b.pick(1, 2), "i64")]) or by
    operator = b.pick("Div", "Mod", "Mod")
    is_float = b.kind(name) == "f32"
    b.add(operator, [name, by], **({"fmod": int(is_float or b.chance(0.3))} if operator == "Mod" else {}))


def clip(b: Builder) -> None:
    name = b.value(*NUMBERS)
    if name is None:
        return
    ends = [b.constant(b.pick(*choices), b.kind(name)) for choices in ((0, 0, 1, -2), (2, 3, 5, 100))]
    b.add("Clip", [name, *b.pick(ends, ends, ["", ends[1]], ends[:1], [ends[0], b.operand(name)])])


def unary(b: Builder) -> None:
    name = b.value(*INTEGERS, "f32")
    if name is not None:
        b.add(b.pick("Abs", "Neg", "Sign"), [name])


def of_fractions(b: Builder) -> None:
    name = b.value("f32")
    if name is not None:
        b.add(b.pick("Floor", "Ceil", "Round", "Sqrt", "Sigmoid", "Tanh", "Relu", "Sin", "Softmax", "Erf", "Exp"), [name])


def compare(b: Builder) -> None:
    name = b.value(*NUMBERS)
    if name is not None:
        b.add(b.pick("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"), [name, b.operand(name)])


def select(b: Builder) -> None:
    name = b.value(*NUMBERS)
    condition = None if name is None else b.add(b.pick("Less", "Greater", "Equal"), [name, b.operand(name)])
    if name is not None and condition is not None:
        b.add("Where", [condition, *b.pick([name, b.operand(name)], [b.operand(name), name])])


def cast(b: Builder) -> None:
    name = b.value(*ANY)
    if name is not None:
        b.add("Cast", [name], to=b.pick(*[TensorProto.INT64] * 3, TensorProto.INT32, TensorProto.FLOAT, TensorProto.UINT8))


def size(b: Builder) -> None:
    count = b.size()
    b.add(b.pick("Add", "Sub", "Mul", "Min", "Max", "Div"), [count, b.constant(b.pick(1, 2, 3), "i64")])


def count_up(b: Builder) -> None:
    start, step = b.constant(b.pick(0, 0, 1, -2), "i64"), b.constant(b.pick(1, 1, 2, 3), "i64")
    ends = [start, b.size()]
    if b.chance(0.2):
        ends, step = ends[::-1], b.constant(b.pick(-1, -2), "i64")
    b.add("Range", [*ends, step])


def non_zero(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        found = b.add("NonZero", [name])
        if found is not None and b.chance(0.6):
            b.add("Transpose", [found], perm=[1, 0])


def extreme(b: Builder) -> None:
    name = b.value("f32", "i64", "i32", least_rank=1)
    if name is None:
        return
    if b.chance(0.5):
        b.add(b.pick("ArgMax", "ArgMin"), [name], axis=b.axis(name), keepdims=b.pick(0, 1), select_last_index=b.pick(0, 1))
    else:
        k = b.constant([b.pick(1, 1, 2)], "i64")
        b.add("TopK", [name, k], outputs=2, axis=b.axis(name), largest=b.pick(0, 1))


def reduce(b: Builder) -> None:
    name = b.value("f32", "i64", "i32", least_rank=1)
    if name is not None:
        operator = b.pick("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceMean")
        b.add(operator, [name, b.constant([b.axis(name)], "i64")], keepdims=b.pick(0, 1))


def running_total(b: Builder) -> None:
    name = b.value("f32", "i64", "i32", least_rank=1)
    mask = b.value("boolean", least_rank=1)
    if mask is not None and b.chance(0.5):
        name = b.add("Cast", [mask], to=TensorProto.INT64)
    if name is not None:
        b.add("CumSum", [name, b.constant(b.axis(name), "i64")], exclusive=b.pick(0, 1), reverse=b.pick(0, 1))


def one_hot(b: Builder) -> None:
    name = b.value("i64", most_rank=2)
    if name is not None:
        b.add("OneHot", [name, b.constant(b.pick(1, 3, 5), "i64"), b.constant([0, b.pick(1, 4)], "i64")], axis=-1)


def unique(b: Builder) -> None:
    name = b.value("i64", "f32", least_rank=1)
    if name is not None:
        b.add("Unique", [name], outputs=4, sorted=b.pick(0, 1))


def reshape(b: Builder) -> None:
    name = b.value(*ANY)
    if name is None:
        return
    shape = b.values[name].shape
    ways = [[-1], [1, -1], [-1, 1], [0] * len(shape), [*[0] * (len(shape) - 1), -1] if shape else [1]]
    b.add("Reshape", [name, b.constant(b.pick(*ways), "i64")])


def transpose(b: Builder) -> None:
    name = b.value(*ANY, least_rank=2)
    if name is not None:
        b.add("Transpose", [name], perm=[int(axis) for axis in b.rng.permutation(b.values[name].ndim)])


def concatenate(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        same = [one for one, array in b.values.items() if array.dtype == b.values[name].dtype]
        b.add("Concat", [name, *(b.pick(*same) for _ in range(b.pick(0, 1, 2)))], axis=b.axis(name))


def cut(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        ends = [
            b.constant([number], "i64") for number in (b.pick(0, 0, 1, -2, -1), b.pick(1, 2, -1, 2**31, 2**62), b.axis(name))
        ]
        b.add("Slice", [name, *ends, *([b.constant([b.pick(1, 2)], "i64")] if b.chance(0.4) else [])])


def backwards(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        ends = [b.constant([number], "i64") for number in (-1, b.pick(-(2**62), 0, -3), b.axis(name), b.pick(-1, -2))]
        b.add("Slice", [name, *ends])


def split(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        b.add("Split", [name], outputs=2, axis=b.axis(name), num_outputs=2)


def fewer_dims(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        b.add("Squeeze", [name, *([b.constant([b.axis(name)], "i64")] if b.chance(0.7) else [])])


def more_dims(b: Builder) -> None:
    name = b.value(*ANY, most_rank=3)
    if name is not None:
        b.add("Unsqueeze", [name, b.constant([b.pick(0, -1)], "i64")])


def expand(b: Builder) -> None:
    name, like = b.value(*ANY), b.value(*ANY)
    shape = None if like is None else b.add("Shape", [like])
    if name is not None and shape is not None:
        b.add("Expand", [name, b.pick(shape, b.constant([2, 1], "i64"))])


def tile(b: Builder) -> None:
    name = b.value(*ANY, least_rank=1)
    if name is not None:
        b.add("Tile", [name, b.constant([b.pick(1, 2, 0) for _ in b.values[name].shape], "i64")])


def pad(b: Builder) -> None:
    name = b.value("i64", "f32", "i32", least_rank=1)
    if name is not None:
        amounts = b.constant([b.pick(0, 1, 2, -1) for _ in range(2 * b.values[name].ndim)], "i64")
        value = [b.constant(b.number(b.kind(name)), b.kind(name))] if b.chance(0.6) else []
        b.add("Pad", [name, amounts, *value], mode="constant" if value else b.pick("constant", "edge", "reflect"))


def _scalar_size(b: Builder, name: str, axis: int) -> str | None:
    shape = b.add("Shape", [name])
    return None if shape is None else b.add("Gather", [shape, b.constant(axis, "i64")])


def _index(b: Builder, data: str, axis: int) -> str | None:
    """An index as models compute it, mostly one that fits an axis of data."""
    way = b.pick(*["given"] * 3, *["any"] * 3, *["clip"] * 2, "remainder", "extreme", "range", "non zero", "scaled", "negative")
    if way == "given":
        return b.pick(*(given.name for given in b.inputs if given.kind in INTEGERS))
    count = _scalar_size(b, data, axis)
    index = b.value("i64", "i64", "i32")
    if count is None or index is None or way == "any":
        return index
    if way == "extreme" and b.values[data].dtype in (np.float32, np.int64):
        return b.add("ArgMax", [data], axis=axis, keepdims=b.pick(0, 1))
    if way == "range":
        return b.add("Range", [b.constant(0, "i64"), count, b.constant(b.pick(1, 2), "i64")])
    if way == "non zero":
        places = b.add("NonZero", [data])
        row = None if places is None else b.constant([axis % b.values[data].ndim], "i64")
        return None if row is None or places is None else b.add("Gather", [places, row], axis=0)
    if b.values[index].dtype != np.int64:
        index = b.add("Cast", [index], to=TensorProto.INT64)
    if index is None:
        return None
    if way == "remainder":
        return b.add("Mod", [index, b.add("Max", [count, b.constant(1, "i64")]) or count], fmod=b.pick(0, 0, 1))
    last = b.add("Sub", [count, b.constant(1, "i64")])
    if last is None:
        return None
    if way == "negative":
        first = b.add("Neg", [count])
        return None if first is None else b.add("Clip", [index, first, last])
    clipped = b.add("Clip", [index, b.constant(0, "i64"), last])
    if way == "clip" or clipped is None:
        return clipped
    return b.add("Add", [b.add("Mul", [clipped, b.constant(2, "i64")]) or clipped, b.constant(b.pick(-1, 1), "i64")])


def _data(b: Builder) -> str | None:
    return b.value("f32", "f32", "i64", "i32", least_rank=1)


def gather(b: Builder) -> None:
    data = _data(b)
    if data is not None:
        axis = b.axis(data)
        index = _index(b, data, axis)
        if index is not None:
            b.add("Gather", [data, index], axis=axis)


def _whole(b: Builder, data: str, index: str) -> str | None:
    """An index of the rank of data."""
    shape = b.pick([-1, *[1] * (b.values[data].ndim - 1)], [*[1] * (b.values[data].ndim - 1), -1])
    return index if b.values[index].ndim == b.values[data].ndim else b.add("Reshape", [index, b.constant(shape, "i64")])


def gather_elements(b: Builder) -> None:
    data = _data(b)
    if data is None:
        return
    axis = b.axis(data)
    index = _index(b, data, axis)
    index = None if index is None else _whole(b, data, index)
    if index is not None:
        b.add("GatherElements", [data, index], axis=axis)


def scatter_elements(b: Builder) -> None:
    data = _data(b)
    if data is None:
        return
    axis = b.axis(data)
    index = _index(b, data, axis)
    index = None if index is None else _whole(b, data, index)
    shape = None if index is None else b.add("Shape", [index])
    updates = None if shape is None else b.add("Expand", [b.constant(b.number(b.kind(data)), b.kind(data)), shape])
    if index is not None and updates is not None:
        reduction = b.pick("none", "none", "add", "mul", "max", "min")
        b.add("ScatterElements", [data, index, updates], axis=axis, reduction=reduction)


def _coordinates(b: Builder, data: str) -> str | None:
    parts = []
    for axis in range(b.pick(*range(1, b.values[data].ndim + 1))):
        index = _index(b, data, axis)
        column = None if index is None else b.add("Reshape", [index, b.constant([-1, 1], "i64")])
        column = None if column is None else b.add("Cast", [column], to=TensorProto.INT64)
        one = None if column is None else b.add("Slice", [column, b.constant([0], "i64"), b.constant([b.pick(1, 2)], "i64")])
        if one is not None:
            parts.append(one)
    return b.add("Concat", parts, axis=1) if parts else None


def gather_nd(b: Builder) -> None:
    data = _data(b)
    index = None if data is None else _coordinates(b, data)
    if data is not None and index is not None:
        b.add("GatherND", [data, index])


def scatter_nd(b: Builder) -> None:
    data = _data(b)
    index = None if data is None else _coordinates(b, data)
    if data is None or index is None:
        return
    picked = b.add("GatherND", [data, index])
    if picked is not None:
        b.add("ScatterND", [data, index, picked], reduction=b.pick("none", "add", "max", "min"))


def _body(text: str) -> onnx.GraphProto:
    graph = parser.parse_graph(text)
    for position, node in enumerate(graph.node):
        node.name = f"{graph.name}_{position}"
    return graph


def branches(b: Builder) -> None:
    """If whose branches compute an index, by which is gathered behind it."""
    index, data = b.value("i64"), b.value("f32", least_rank=1)
    condition = None if index is None else b.add("ReduceMax", [index], keepdims=0)
    condition = None if condition is None else b.add("Greater", [condition, b.constant(b.pick(0, 3), "i64")])
    if index is None or data is None or condition is None:
        return
    one, other = b.pick("Neg", "Abs", "Identity"), b.pick("Sign", "Identity", "Abs")
    then = _body(f"yes () => (int64[] y) {{ y = {one} ({index}) }}")
    orelse = _body(f"no () => (int64[] n) {{ n = {other} ({index}) }}")
    for graph in (then, orelse):
        graph.output[0].type.tensor_type.ClearField("shape")
    chosen = b.add("If", [condition], then_branch=then, else_branch=orelse)
    if chosen is not None:
        b.add("Gather", [data, chosen], axis=0)


def repeated(b: Builder) -> None:
    """Loop with a state and the number of the iteration, which come out as indices."""
    data, state = b.value("f32", least_rank=1), b.constant(b.pick(0, 1, -1), "i64")
    trips = b.size() if b.chance(0.6) else b.constant(b.pick(0, 1, 3), "i64")
    step = b.pick("Add(s, one)", "Sub(s, one)", "Mul(s, two)", "Min(s, i)", "Max(s, i)", "Add(s, i)")
    body = _body(
        f"""body (int64 i, bool c, int64 s) => (bool going, int64 t, int64 at, int64 number) {{
            one = Constant <value_int = 1> () two = Constant <value_int = 2> ()
            t = {step} going = Identity (c) at = Identity (s) number = Identity (i)
        }}"""
    )
    last = b.add("Loop", [trips, b.constant(True, "boolean"), state], outputs=3, body=body)
    if data is not None and last is not None:
        b.add("Gather", [data, last], axis=b.axis(data))


VALUES = (
    *(binary, binary, division, clip, unary, of_fractions, compare, select, cast, cast, size, count_up, non_zero),
    *(extreme, extreme, reduce, running_total, one_hot, unique),
)
MOVES = (reshape, transpose, concatenate, cut, backwards, split, fewer_dims, more_dims, expand, tile, pad)
SITES = (gather, gather, gather, gather_elements, gather_elements, gather_nd, scatter_elements, scatter_nd, branches, repeated)
