"""Operations of random models that move elements: reshaped, turned, cut, joined, repeated, padded."""

from __future__ import annotations

from openvino import Output, opset1
from openvino import opset16 as ops

from helpers.random_indices import INTEGERS, Builder, Operation, Value, constant

MOVED = (*INTEGERS, *INTEGERS, "f32", "boolean", "u8")


def _sizes(b: Builder, parts: list[Output]) -> Output:
    """A vector of scalars."""
    lines = [ops.unsqueeze(b.as_kind(b.known(part), "i64").output, constant(0, "i64")) for part in parts]
    return ops.concat(lines, 0).output(0)


def _some_bounds(b: Builder, size: int | str) -> tuple[int, int, int]:
    """The start, stop and step of a slice, beyond the ends, too."""
    whole = size if isinstance(size, int) else 4
    step = b.pick(1, 1, 1, 1, 2, -1, -2, 3)
    start = b.pick(0, 0, 1, -1, -2, int(b.rng.integers(-whole - 1, whole + 2)))
    stop = b.pick(2**31 - 1, -1, whole, 1, int(b.rng.integers(-whole - 1, whole + 2)))
    return (start, stop, step) if step > 0 else (b.pick(-1, whole, stop), b.pick(0, -(2**31) + 1, start), step)


def slice_(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1)
    axis = b.axis(value)
    start, stop, step = _some_bounds(b, value.dims[axis])
    if isinstance(value.dims[axis], str) and start < 0 <= stop < 2**31 - 1:
        stop = 2**31 - 1  # OpenVINO infers wrong bounds of the size, and computes with them
    kind = b.pick(*INTEGERS)
    ends = [constant([start], kind), constant([stop], kind)]
    if b.chance(0.25):
        ends[int(b.rng.integers(2))] = ops.unsqueeze(b.as_kind(b.count(), kind).output, constant(0, "i64")).output(0)
    dims = [*value.dims[:axis], 0, *value.dims[axis + 1 :]]
    return b.add(ops.slice(value.output, *ends, constant([step], kind), constant([b.either_end(axis, value.rank)], kind)), dims)


def strided_slice(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1)
    bounds = [_some_bounds(b, dim) for dim in value.dims[: b.pick(1, 2, value.rank)]]
    begins, ends, steps = (constant(list(line), "i64") for line in zip(*bounds, strict=True))
    bits = [[int(b.chance(share)) for _ in bounds] for share in (0.3, 0.3, 0.1, 0.25)]
    return b.add(ops.strided_slice(value.output, begins, ends, steps, bits[0], bits[1], bits[2], bits[3], []))


def split(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1)
    axis = b.axis(value)
    at = constant(b.either_end(axis, value.rank), "i64")
    if b.chance(0.5):
        node = ops.split(value.output, at, b.pick(1, 2, 3))
    else:
        node = ops.variadic_split(value.output, at, constant(b.pick([1, -1], [2, 1], [-1, 1, 1], [0, -1]), "i64"))
    return [b.add(output, [*value.dims[:axis], 0, *value.dims[axis + 1 :]]) for output in node.outputs()]


def concat(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1)
    axis = b.axis(value)
    same = [v for v in b.values if v.kind == value.kind and v.rank == value.rank]
    rest = [v for v in same if all(v.dims[i] == value.dims[i] for i in range(value.rank) if i != axis)]
    parts = [value.output, *(b.pick(*rest).output for _ in range(b.pick(1, 2)))]
    return b.add(ops.concat(parts, b.either_end(axis, value.rank)), [*value.dims[:axis], 0, *value.dims[axis + 1 :]])


def stack(b: Builder) -> object:
    """Coordinates side by side, for a GatherND."""
    value = b.integers(most_rank=2)
    same = [v for v in b.values if v.kind == value.kind and v.dims == value.dims]
    parts = [ops.unsqueeze(b.pick(value, *same).output, constant(-1, "i64")) for _ in range(b.pick(1, 2, 2, 3))]
    return b.add(ops.concat(parts, -1), value.dims)


def reshape(b: Builder) -> object:
    value = b.value(*MOVED)
    way = b.pick("flat", "rows", "columns", "computed", "one more")
    if way == "flat":
        return b.add(ops.reshape(value.output, constant([-1], "i64"), b.chance(0.5)), value.dims if value.rank == 1 else ())
    if way == "rows":
        return b.add(ops.reshape(value.output, constant([0, -1], "i64"), True), value.dims[:1])
    if way == "columns":
        return b.add(ops.reshape(value.output, constant([-1, b.pick(1, 2, 3)], "i64"), False))
    if way == "one more":
        return b.add(ops.reshape(value.output, constant([0] * value.rank + [1], "i64"), True), value.dims)
    sizes = [b.size_of(value, axis, "i64").output for axis in range(value.rank)][::-1]
    if sizes and b.chance(0.3):
        sizes[0] = constant(-1, "i64")
    return b.add(ops.reshape(value.output, _sizes(b, sizes), False), value.dims[::-1] if sizes else ())


def transpose(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=2)
    order = b.rng.permutation(value.rank).tolist()  # of an empty order OpenVINO makes a wrong shape
    return b.add(ops.transpose(value.output, constant(order, "i64")), [value.dims[i] for i in order])


def squeeze(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1)
    ones = [axis for axis, dim in enumerate(value.dims) if dim == 1]
    axis = b.pick(*ones) if ones else b.axis(value)
    return b.add(ops.squeeze(value.output, constant(axis, "i64")), [*value.dims[:axis], *value.dims[axis + 1 :]])


def unsqueeze(b: Builder) -> object:
    value = b.value(*MOVED, most_rank=3)
    axis = int(b.rng.integers(value.rank + 1))
    return b.add(ops.unsqueeze(value.output, constant(axis, "i64")), [*value.dims[:axis], 1, *value.dims[axis:]])


def broadcast(b: Builder) -> object:
    value = b.value(*MOVED, most_rank=3)
    if b.chance(0.5):  # to the shape of another value
        other = b.value(least_rank=1)
        shape, dims = ops.shape_of(other.output, "i64").output(0), other.dims
    else:
        front = b.pick(1, 2, 3)
        sizes = [constant(front, "i64") if b.chance(0.6) else b.as_kind(b.count(), "i64").output]
        sizes += [b.size_of(value, axis, "i64").output for axis in range(value.rank)]
        shape, dims = _sizes(b, sizes), (0, *value.dims)
    return b.add(ops.broadcast(value.output, shape, broadcast_spec=b.pick("NUMPY", "BIDIRECTIONAL")), dims)


def tile(b: Builder) -> object:
    value = b.value(*MOVED, least_rank=1, most_rank=3)
    times = [constant(b.pick(1, 1, 2, 3, 0), "i64") for _ in range(value.rank)]
    if b.chance(0.4):
        times[int(b.rng.integers(value.rank))] = b.as_kind(b.count(), "i64").output
    return b.add(ops.tile(value.output, _sizes(b, times)))


def pad(b: Builder) -> object:
    value = b.value(*INTEGERS, "f32", least_rank=1, most_rank=3)
    mode = b.pick("constant", "constant", "edge", "reflect", "symmetric")
    least = -1 if mode == "constant" else 0
    before, after = (constant(b.rng.integers(least, 3, value.rank), "i64") for _ in range(2))
    filling = constant(b.pick(0, -1, 7, 2**31 - 1), value.kind)
    return b.add(ops.pad(value.output, before, after, mode, *([filling] if mode == "constant" and b.chance(0.8) else [])))


def roll(b: Builder) -> object:
    value = b.value(*INTEGERS, "f32", least_rank=1)
    return b.add(ops.roll(value.output, constant([b.pick(1, -1, 5)], "i64"), constant([b.axis(value)], "i64")), value.dims)


def reverse(b: Builder) -> object:
    value = b.value(*INTEGERS, "f32", least_rank=2)
    lengths = ops.broadcast(b.size_of(value, 1, "i32").output, _sizes(b, [b.size_of(value, 0, "i64").output]))
    return b.add(ops.reverse_sequence(value.output, lengths, 0, 1), value.dims)


def outer(b: Builder) -> object:
    """Two lines become a table: i * n + j."""
    one, other = (b.integers(least_rank=1, most_rank=1) for _ in range(2))
    column = ops.unsqueeze(one.output, constant(1, "i64"))
    row = ops.unsqueeze(b.as_kind(other, one.kind).output, constant(0, "i64"))
    if b.chance(0.5):
        column = ops.multiply(column, b.as_kind(b.size_of(other, 0), one.kind).output)
    return b.add(b.pick(ops.add, ops.multiply, ops.subtract, ops.maximum)(column, row), (*one.dims, *other.dims))


def embedding_bag(b: Builder) -> object:
    table = b.value("f32", *INTEGERS, least_rank=2, most_rank=2)
    kind = b.pick(*INTEGERS)
    indices = ops.clamp(b.as_kind(b.integers(least_rank=2, most_rank=2), kind).output, 0.0, float(b.pick(0, 2, 9)))
    reduction = b.pick("sum", "mean")
    if table.kind != "f32":
        reduction = "sum"
    return b.add(ops.embedding_bag_packed(table.output, indices, None, reduction), ())


def split_heads(b: Builder) -> object:
    """The rank-2 idiom: a table becomes its rows, transposed and flat."""
    value = b.integers(least_rank=2, most_rank=2)
    turned = ops.transpose(value.output, constant([1, 0], "i64"))
    return b.add(ops.reshape(turned, constant([-1], "i64"), False))


def old_broadcast(b: Builder) -> object:
    """Broadcast-1, with the axes of the output that the axes of the input become."""
    value = b.value(*INTEGERS, least_rank=1, most_rank=1)
    sizes = _sizes(b, [b.size_of(value, 0, "i64").output, constant(b.pick(1, 2, 3), "i64")])
    return b.add(opset1.broadcast(value.output, sizes, constant([0], "i64"), "EXPLICIT"), value.dims)


MOVES: list[tuple[int, Operation]] = [
    *[(6, slice_), (4, strided_slice), (4, split), (5, concat), (4, stack), (7, reshape), (4, transpose), (3, squeeze)],
    *[(5, unsqueeze), (6, broadcast), (3, tile), (3, pad), (1, roll), (1, reverse), (4, outer), (1, embedding_bag)],
    *[(1, split_heads), (1, old_broadcast)],
]


def as_line(b: Builder, value: Value) -> Value:
    """A value in one row."""
    return value if value.rank == 1 else b.known(ops.reshape(value.output, constant([-1], "i64"), False))
