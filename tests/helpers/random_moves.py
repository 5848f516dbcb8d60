"""Operations of random graphs that move elements: reshaped, turned, cut, joined, repeated, padded."""

from __future__ import annotations

from openvino import opset1

from helpers.random_graphs import INTEGERS, Builder, Dim, Operation, Value
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import OpenvinoBuilder


def some_bounds(b: Builder, size: Dim) -> tuple[int, int, int]:
    """Choose the start, stop and step of a slice, beyond the ends, too."""
    whole = size if isinstance(size, int) else 4
    step = b.pick(1, 1, 1, 1, 2, -1, -2, 3)
    start = b.pick(0, 0, 1, -1, -2, int(b.rng.integers(-whole - 1, whole + 2)))
    stop = b.pick(b.pick(*b.far), -1, whole, 1, int(b.rng.integers(-whole - 1, whole + 2)))
    return (start, stop, step) if step > 0 else (b.pick(-1, whole, stop), b.pick(0, -b.pick(*b.far), start), step)


def other_size(value: Value, axis: int) -> list[Dim]:
    """Return the dimensions of a value, of which one has another size."""
    return [*value.dims[:axis], 0, *value.dims[axis + 1 :]]


def slice_(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1)
    axis, kind = b.axis(value), b.pick(*INTEGERS)
    start, stop, step = some_bounds(b, value.dims[axis])
    if isinstance(b, OpenvinoBuilder) and isinstance(value.dims[axis], str) and start < 0 <= stop < 2**31 - 1:
        stop = 2**31 - 1  # OpenVINO infers wrong bounds of the size, and computes with them
    kind = "i64" if max(abs(start), abs(stop)) >= 2**31 else kind
    ends = [b.constant([start], kind), b.constant([stop], kind)]
    if b.chance(0.25):
        ends[int(b.rng.integers(2))] = b.make("unsqueeze", b.as_kind(b.count(), kind), b.longs(0))
    more = b.constant([step], kind), b.constant([b.either_end(axis, value.rank)], kind)
    return b.add("slice", value, *ends, *more, dims=other_size(value, axis))


def strided_slice(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1)
    bounds = [some_bounds(b, dim) for dim in value.dims[: b.pick(1, 2, value.rank)]]
    bits = [[int(b.chance(share)) for _ in bounds] for share in (0.3, 0.3, 0.1, 0.25)]
    return b.add("strided_slice", value, *(b.longs(*line) for line in zip(*bounds, strict=True)), *bits, [], dims=())


def split(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1)
    axis = b.axis(value)
    at, dims = b.constant(b.either_end(axis, value.rank), "i64"), other_size(value, axis)
    if b.chance(0.5):
        return [b.offer(one) for one in b.outputs("split", value, at, b.pick(1, 2, 3), dims=dims)]
    lengths = b.pick([1, -1], [2, 1], [-1, 1, 1], [0, -1], [1, 2], [3, 0])
    return [b.offer(one) for one in b.outputs("variadic_split", value, at, b.longs(*lengths), dims=dims)]


def concat(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1)
    axis = b.axis(value)
    same = [v for v in b.values if v.kind == value.kind and v.rank == value.rank]
    rest = [v for v in same if all(v.dims[i] == value.dims[i] for i in range(value.rank) if i != axis)]
    parts = [value, *(b.pick(*rest) for _ in range(b.pick(1, 2) if rest else 0))]
    return b.add("concat", parts, b.either_end(axis, value.rank), dims=other_size(value, axis))


def stack(b: Builder) -> object:
    """Coordinates side by side, for a GatherND."""
    value = b.integer(most_rank=2)
    same = [v for v in b.values if v.kind == value.kind and v.dims == value.dims]
    parts = [b.make("unsqueeze", b.pick(value, *same), b.longs(-1)) for _ in range(b.pick(1, 2, 2, 3))]
    return b.add("concat", parts, -1, dims=value.dims)


def reshape(b: Builder) -> object:
    value = b.value(*b.moved)
    way = b.pick("flat", "rows", "columns", "computed", "one more", "one row")
    if way == "flat":
        return b.add("reshape", value, b.longs(-1), b.chance(0.5), dims=value.dims if value.rank == 1 else ())
    if way == "rows":
        return b.add("reshape", value, b.longs(0, -1), True, dims=value.dims[:1])
    if way == "columns":
        return b.add("reshape", value, b.longs(-1, b.pick(1, 2, 3)), False, dims=())
    if way == "one row":
        return b.add("reshape", value, b.longs(1, -1), False, dims=())
    if way == "one more":
        return b.add("reshape", value, b.longs(*[0] * value.rank, 1), True, dims=value.dims)
    sizes = [b.size_of(value, axis, "i64") for axis in range(value.rank)][::-1]
    if sizes and b.chance(0.3):
        sizes[0] = b.constant(-1, "i64")
    return b.add("reshape", value, b.vector(sizes), False, dims=value.dims[::-1] if sizes else ())


def transpose(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=2)
    order = b.rng.permutation(value.rank).tolist()  # of an empty order OpenVINO makes a wrong shape
    return b.add("transpose", value, b.longs(*order), dims=[value.dims[i] for i in order])


def squeeze(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1)
    ones = [axis for axis, dim in enumerate(value.dims) if dim == 1]
    axis = b.pick(*ones) if ones else b.axis(value)
    return b.add("squeeze", value, b.longs(axis), dims=[*value.dims[:axis], *value.dims[axis + 1 :]])


def squeeze_all(b: OnnxBuilder) -> object:
    return b.offer(b.one("Squeeze", b.value(*b.moved, least_rank=1)))


def unsqueeze(b: Builder) -> object:
    value = b.value(*b.moved, most_rank=3)
    axis = int(b.rng.integers(value.rank + 1))
    return b.add(
        "unsqueeze", value, b.longs(b.pick(axis, axis - value.rank - 1)), dims=[*value.dims[:axis], 1, *value.dims[axis:]]
    )


def broadcast(b: Builder) -> object:
    value, mode = b.value(*b.moved, most_rank=3), b.pick("NUMPY", "BIDIRECTIONAL")
    if b.chance(0.5):  # to the shape of another value
        other = b.value(least_rank=1)
        return b.add("broadcast", value, b.make("shape_of", other, "i64"), None, mode, dims=other.dims)
    sizes = [b.constant(b.pick(1, 2, 3), "i64") if b.chance(0.6) else b.as_kind(b.count(), "i64")]
    sizes += [b.size_of(value, axis, "i64") for axis in range(value.rank)]
    return b.add("broadcast", value, b.vector(sizes), None, mode, dims=(0, *value.dims))


def tile(b: Builder) -> object:
    value = b.value(*b.moved, least_rank=1, most_rank=3)
    times = [b.pick(1, 1, 2, 3, 0) for _ in range(value.rank)]
    if b.chance(0.4):
        return b.add("tile", value, b.longs(*times), dims=())
    sizes = [b.constant(one, "i64") for one in times]
    sizes[int(b.rng.integers(value.rank))] = b.as_kind(b.count(), "i64")
    return b.add("tile", value, b.vector(sizes), dims=())


def pad(b: Builder) -> object:
    value = b.value(*b.integers, "f32", least_rank=1, most_rank=3)
    mode = b.pick(*b.pad_modes)
    least = -1 if mode == "constant" else 0
    amounts = [b.longs(*b.rng.integers(least, 3, value.rank)) for _ in range(2)]
    filling = [b.constant(b.pick(0, -1, 7, 2**31 - 1), value.kind)] if mode == "constant" and b.chance(0.8) else []
    return b.add("pad", value, *amounts, mode, *filling, dims=())


def roll(b: Builder) -> object:
    value = b.value(*INTEGERS, "f32", least_rank=1)
    return b.add("roll", value, b.longs(b.pick(1, -1, 5)), b.longs(b.axis(value)))


def reverse(b: Builder) -> object:
    value = b.value(*INTEGERS, "f32", least_rank=2)
    lengths = b.make("broadcast", b.size_of(value, 1, "i32"), b.vector([b.size_of(value, 0, "i64")]))
    return b.add("reverse_sequence", value, lengths, 0, 1, dims=value.dims)


def outer(b: Builder) -> object:
    """Two lines become a table: i * n + j."""
    one, other = (b.integer(least_rank=1, most_rank=1) for _ in range(2))
    column = b.make("unsqueeze", one, b.longs(1))
    row = b.make("unsqueeze", b.as_kind(other, one.kind), b.longs(0))
    if b.chance(0.5):
        column = b.make("multiply", column, b.as_kind(b.size_of(other, 0), one.kind))
    return b.add(b.pick("add", "multiply", "subtract", "maximum"), column, row, dims=(*one.dims, *other.dims))


def embedding_bag(b: Builder) -> object:
    table, kind = b.value("f32", *INTEGERS, least_rank=2, most_rank=2), b.pick(*INTEGERS)
    indices = b.make("clamp", b.as_kind(b.integer(least_rank=2, most_rank=2), kind), 0.0, float(b.pick(0, 2, 9)))
    reduction = b.pick("sum", "mean") if table.kind == "f32" else "sum"
    return b.add("embedding_bag_packed", table, indices, None, reduction, dims=())


def split_heads(b: Builder) -> object:
    """The rank-2 idiom: a table becomes its rows, transposed and flat."""
    turned = b.make("transpose", b.integer(least_rank=2, most_rank=2), b.longs(1, 0), dims=())
    return b.add("reshape", turned, b.longs(-1), False, dims=())


def truth_of_half(b: Builder) -> object:
    """Convert the second half of a Concat to boolean, behind operations that OpenVINO may remove or do later."""
    value = b.integer(least_rank=1)
    axis, one = b.axis(value), b.constant(1, value.kind)
    halves = [b.make("clamp", value, *limits) for limits in b.pick(((5.0, 6.0), (0.0, 0.0)), ((0.0, 0.0), (5.0, 6.0)))]
    dims = other_size(value, axis)
    half = b.outputs("split", b.make("concat", halves, axis, dims=dims), b.constant(axis, "i64"), 2, dims=dims)[1]
    for way in b.pick([], ["times"], ["turned"], ["turned", "times"], ["signs"], ["views", "turned"], ["chosen"]):
        if way == "times":
            half = b.make("multiply", half, one)
        elif way == "turned":
            half = b.make("transpose", half, b.longs(*b.rng.permutation(half.rank)), dims=())
        elif way == "signs":
            half = b.make("negative", b.make("negative", half))
        elif way == "views":
            half = b.make("squeeze", b.make("unsqueeze", half, b.longs(0), dims=()), b.longs(0), dims=())
        else:
            half = b.make("select", b.constant(True, "boolean"), half, half)
    return b.add("convert", b.make("convert", half, "boolean"), value.kind)


def old_broadcast(b: Builder) -> object:
    """Broadcast-1, with the axes of the output that the axes of the input become."""
    value = b.value(*INTEGERS, least_rank=1, most_rank=1)
    sizes = b.vector([b.size_of(value, 0, "i64"), b.constant(b.pick(1, 2, 3), "i64")])
    return b.add("broadcast", value, sizes, b.longs(0), "EXPLICIT", opset=opset1)


COMMON: list[tuple[int, Operation]] = [
    *[(6, slice_), (4, split), (5, concat), (4, stack), (7, reshape), (4, transpose), (3, squeeze), (5, unsqueeze)],
    *[(6, broadcast), (3, tile), (3, pad), (4, outer), (1, split_heads)],
]
MOVES: dict[type[Builder], list[tuple[int, Operation]]] = {
    OpenvinoBuilder: [
        *COMMON,
        (4, strided_slice),
        (1, roll),
        (1, reverse),
        (1, embedding_bag),
        (1, old_broadcast),
        (2, truth_of_half),
    ],
    OnnxBuilder: [*COMMON, (2, squeeze_all), (6, split), (5, tile), (6, pad), (3, reshape)],
}


def as_line(b: Builder, value: Value) -> Value:
    """Return a value in one row."""
    return value if value.rank == 1 else b.make("reshape", value, b.longs(-1), False, dims=())


def repeated(b: Builder, line: Value, value: Value, axis: int, rank: int) -> Value:
    """Repeat a line along an axis to the size of a value along all others."""
    sources = [(line, 0) if other == axis else (value, other) for other in range(rank)]
    shape = b.vector([b.size_of(*source, "i64") for source in sources])
    placed = b.make("reshape", line, b.longs(*(-1 if other == axis else 1 for other in range(rank))), False, dims=())
    dims = [source.dims[at] for source, at in sources]
    return b.make("broadcast", placed, shape, None, b.pick("NUMPY", "BIDIRECTIONAL"), dims=dims)
