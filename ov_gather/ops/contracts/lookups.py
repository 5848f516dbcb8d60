"""Contracts of operators that look rows up in tables, and values in segments, sorted sequences and sparse tensors."""

from __future__ import annotations

from ov_gather.ir.element_types import BF16, BOOLEAN, F16, F32, I32, I64, ElementType
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import ANY, MAX_DIMENSION, Dimension, PartialShape
from ov_gather.ops.contracts.call import (
    BadCountError,
    BadRankError,
    BadSizeError,
    BadValueError,
    Call,
    Output,
)
from ov_gather.ops.contracts.sizes import NamedSizes, exactly, open_shape, total

_INDEX = (I32, I64)


def bags(call: Call) -> list[Output]:
    """EmbeddingBagOffsets and its Sum: a row for each bag; bags begin at offsets."""
    sizes = NamedSizes()
    _indices(call, 1, 2, 3)
    sizes.fit(call, 1, "indices", "the number of indices")
    sizes.fit(call, 2, "offsets", "the number of bags")
    _ascending(call, 2, "offsets")
    _default(call, 3, least=-1)
    return _rows(call, sizes, 4, ("the number of indices",))


def packed_bags(call: Call) -> list[Output]:
    """EmbeddingBagPacked and its Sum: bags of one size."""
    sizes, names = NamedSizes(), ("the number of bags", "the size of a bag")
    _indices(call, 1)
    sizes.fit(call, 1, "indices", *names)
    return _rows(call, sizes, 2, names)


def segments(call: Call) -> list[Output]:
    """EmbeddingSegmentsSum: bags as segments, whose number is stated."""
    sizes = NamedSizes()
    _indices(call, 1, 2, 3, 4)
    sizes.fit(call, 1, "indices", "the number of indices")
    sizes.fit(call, 2, "segment_ids", "the number of indices")
    sizes["the number of bags"] = _stated(call, 3, "num_segments")
    _ascending(call, 2, "segment_ids")
    _default(call, 4, least=0)
    return _rows(call, sizes, 5, ("the number of indices",))


def _rows(call: Call, sizes: NamedSizes, weights: int, names: tuple[str, ...]) -> list[Output]:
    """Compare the weights, which stand at this position, and the table. Return a row of the table for each bag."""
    if call.count > weights and call.word("reduction", "sum") == "mean":
        raise BadCountError("the layer has weights for each sample", "with reduction=mean leave them out")
    kind = call.same_type(0, weights)
    sizes.fit(call, weights, "per_sample_weights", *names)
    return [(kind, _with_first(call, sizes["the number of bags"]))]


def aggregation(call: Call) -> list[Output]:
    """GatherScatter of ours: rows that sources name, maybe times weights, are added to the rows that targets name."""
    sizes, size = NamedSizes(), parse_digits(call.attributes.get("size", "0"))
    if size is None or size > MAX_DIMENSION:
        raise BadValueError(f"size='{call.attributes['size'][:40]}' is no size", "the number of rows of the output, 0 or more")
    call.one_of("bounds", "error", "error", "zero")
    call.takes(0, (F32, F16, BF16), "data")
    for port, name in ((1, "sources"), (2, "targets")):
        call.takes(port, _INDEX, name)
        sizes.fit(call, port, name, "the number of edges")
    call.same_type(0, 3)
    shape = _with_first(call, exactly(size))
    if shape.dims is not None:
        _fit_weights(call, (sizes["the number of edges"], *shape.dims[1:]))
    return [(call.kind(0), shape)]


def _fit_weights(call: Call, rows: tuple[Dimension, ...]) -> None:
    """Compare weights, if there are any, with the shape of the gathered rows."""
    weights = call.dims(3)
    if weights is None:
        return
    rank = next((axis for axis in range(len(weights), 1, -1) if weights[axis - 1] != exactly(1)), 1)
    pairs = zip(weights[:rank], rows, strict=False)
    if len(weights) != len(rows) or any(one.intersect(other) is None for one, other in pairs):
        wanted = f"the shape {PartialShape(rows)} of the gathered rows, or 1 from some dimension on"
        raise BadSizeError(f"weights have the shape {call.shapes[3]}", wanted, 3)


def segment_max(call: Call) -> list[Output]:
    """SegmentMax: the maximum of the slices of each segment."""
    for port, name in ((1, "segment_ids"), (2, "num_segments")):
        call.takes(port, _INDEX, name)
    call.has_rank(1, "segment_ids", 1)
    count = _stated(call, 2, "num_segments")
    ids, numbers, dims = call.dims(1), _ascending(call, 1, "segment_ids"), call.dims(0)
    shape = _with_first(call, exactly(max(numbers) + 1) if numbers and call.count < 3 else count)
    if dims is not None and ids is not None and dims[0].intersect(ids[0]) is None:
        raise BadSizeError(f"segment_ids has {ids[0]} elements for {dims[0]} slices", "one for each slice", 1)
    return [(call.kind(0), shape)]


def _ascending(call: Call, port: int, name: str) -> tuple[int, ...] | None:
    """Return the numbers of an input. Raises BadValueError if they are out of order."""
    numbers = call.wholes_of(port)
    if numbers is not None and (list(numbers) != sorted(numbers) or min(numbers, default=0) < 0):
        raise BadValueError(f"{name} are {list(numbers)}", "none is negative, and none below the one before it", port)
    return numbers


def _default(call: Call, port: int, least: int) -> None:
    """Check the row that empty bags get; -1 is one of zeros."""
    call.has_rank(port, "default_index", 0)
    number, table = call.wholes_of(port), call.dims(0)
    if number is not None and (number[0] < least or (table and table[0].upper is not None and number[0] >= table[0].upper)):
        size = table[0] if table else "?"
        raise BadValueError(f"default_index is {number[0]}", f"it is {least} to the last of {size} rows", port)


def _stated(call: Call, port: int, name: str) -> Dimension:
    """Return a number of segments."""
    call.has_rank(port, name, 0)
    number = call.wholes_of(port)
    if number is not None and number[0] < 0:
        raise BadValueError(f"{name} is {number[0]}", "it is 0 or more", port)
    return ANY if number is None else exactly(number[0])


def _with_first(call: Call, size: Dimension) -> PartialShape:
    dims = call.dims(0)
    if dims == ():
        raise BadRankError("the first input is a scalar", f"{call.type} takes slices of rank 1 or more", 0)
    return PartialShape(None if dims is None else (size, *dims[1:]))


def _indices(call: Call, *ports: int) -> None:
    call.takes(ports[0], _INDEX, "indices")
    call.same_type(*ports)


def search_sorted(call: Call) -> list[Output]:
    """SearchSorted: positions of values in sorted sequences, one for all or one for each row."""
    call.same_type(0, 1)
    kind = call.element_type("output_type", I64)
    if kind not in _INDEX:
        raise BadValueError(f"output_type is {kind}", "i32 or i64")
    rows, values = call.dims(0), call.dims(1)
    if rows == ():
        raise BadRankError("the sorted sequence is a scalar", "SearchSorted takes rank 1 or more", 0)
    if rows is None or values is None:
        return [(None, open_shape(call.rank(1)))]
    if len(rows) == 1:
        return [(None, call.shapes[1])]
    if len(values) != len(rows):
        raise BadRankError(f"the values have rank {len(values)}, the sorted sequences {len(rows)}", "the same rank", 1)
    both = PartialShape(rows[:-1]).intersect(PartialShape(values[:-1]))
    if both is None or both.dims is None:
        raise BadSizeError(
            f"the values are {call.shapes[1]}, the sorted sequences {call.shapes[0]}", "all but the last size are the same", 1
        )
    return [(None, PartialShape((*both.dims, values[-1])))]


def sparse_filled(call: Call) -> list[Output]:
    """SparseFillEmptyRows: a default value for each empty row of a matrix."""
    sizes = NamedSizes({"coordinates": exactly(2)})
    index = call.same_type(1, 2)
    call.takes(1, _INDEX, "dense_shape")
    kind = call.same_type(0, 3)
    sizes.fit(call, 0, "values", "the number of values")
    sizes.fit(call, 1, "dense_shape", "coordinates")
    sizes.fit(call, 2, "indices", "the number of values", "coordinates")
    call.has_rank(3, "default_value", 0)
    matrix, places = call.wholes_of(1), call.wholes_of(2)
    if matrix is not None and min(matrix) < 0:
        raise BadValueError(f"dense_shape is {list(matrix)}", "a size is 0 or more", 1)
    values, coordinates, elements = call.dims(0) or (ANY,), ANY, ANY
    if matrix is not None and places is not None:
        _within(matrix, places)
        missing = exactly(matrix[0] - len(set(places[::2])))
        coordinates, elements = total((exactly(len(places) // 2), missing)), total((values[0], missing))
    rows = ANY if matrix is None else exactly(matrix[0])
    shapes = (coordinates, exactly(2)), (elements,), (rows,)
    kinds: tuple[ElementType | None, ...] = index, kind, BOOLEAN
    return [(its, PartialShape(dims)) for its, dims in zip(kinds, shapes, strict=True)]


def _within(matrix: tuple[int, ...], places: tuple[int, ...]) -> None:
    for row, column in zip(places[::2], places[1::2], strict=True):
        if not (0 <= row < matrix[0] and 0 <= column < matrix[1]):
            raise BadValueError(f"indices have [{row}, {column}]", f"they lie in a matrix of {matrix[0]} x {matrix[1]}", 2)
