"""Translation of PyTorch's index operators to OpenVINO's operations, exact while indices are in bounds.

1. gather(x, dim, i)             ->  GatherElements(Slice(x, sizes of i), i, axis=dim)
2. index_select(x, dim, i)       ->  Gather(x, i, axis=dim)
3. scatter(x, dim, i, v)         ->  ScatterElementsUpdate(x, i, Slice(v, sizes of i), axis=dim)
4. index_add(x, dim, i[n], v)    ->  ScatterElementsUpdate(x, Broadcast(Reshape(i)), v, axis=dim, reduction="sum")
5. x[:, i, j]                    ->  Transpose(GatherND(Transpose(x, [1, 2, 0]), Concat(i, j)))
6. x[:, i, j] = v                ->  Transpose(ScatterNDUpdate(Transpose(x, [1, 2, 0]), Concat(i, j), Transpose(v)))

An index out of bounds stays out of bounds; it is never made to wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ov_gather.extension.python_api import Node, Output, opset15
from ov_gather.extension.python_api import opset13 as ops

from ..passes.slice_data import START
from .sites import IndexUse

FAR = -(2**31)
"""Replacement for negative indices that PyTorch refuses: the least int32, out of bounds of every axis."""


def translate(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Translate an operator of PyTorch; return its output. 0-d tensors become vectors of one element, and back."""
    given = [_reshaped(tensor, [-1]) for tensor in tensors] if site.has_scalars else tensors
    found = _BY_KIND[site.kind](site, given)
    return _reshaped(found, []) if site.gives_scalar else found


def refusing_negative(indices: Output) -> Output:
    """Return the indices, with FAR for each negative one."""
    zero, far = (ops.constant(number, indices.get_element_type()) for number in (0, FAR))
    return ops.select(ops.less(indices, zero), far, indices).output(0)


def _gather(site: IndexUse, tensors: Sequence[Output]) -> Output:
    data, index = tensors
    return _named(site, ops.gather_elements(_cut(data, index, site.smaller), _signed(index), site.dims[0]))


def _none(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Gather nothing: the result has the shape of the indices, whose rank may be another than that of data."""
    data, index = tensors
    nothing = _named(site, ops.gather_elements(_reshaped(data, [-1]), _signed(_reshaped(index, [-1])), 0))
    return ops.reshape(nothing, _shape_of(index), False).output(0)


def _unchanged(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Return the result of a scatter by indices without elements: data."""
    return tensors[0]


def _take(site: IndexUse, tensors: Sequence[Output]) -> Output:
    data, index = tensors
    if site.operator == "aten.index_select.default":
        index = _reshaped(index, [-1])
    return _named(site, ops.gather(data, index, ops.constant(site.dims[0], np.int64)))


def _scatter(site: IndexUse, tensors: Sequence[Output]) -> Output:
    data, index, *given = tensors
    if given:
        updates = _cut(given[0], index, site.smaller)
    else:
        updates = _broadcast(_typed(ops.constant(site.options["value"]).output(0), data), _shape_of(index))
    return _scattered(site, data, index, updates, site.options["reduction"], site.options["use_init_val"])


def _write_slices(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Add or copy slices, with each index broadcast to all elements of its slice."""
    data, index, source = tensors
    if site.options["alpha"] != 1:
        times = ops.logical_and if source.get_element_type().get_type_name() == "boolean" else ops.multiply
        source = times(source, _typed(ops.constant(site.options["alpha"]).output(0), source)).output(0)
    index = _broadcast(_along(site, index), _shape_of(source))
    return _scattered(site, data, index, source, "sum" if site.kind == "add_slices" else "none")


def _fill_slices(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Write a number into slices, as many as there are indices."""
    data, index = tensors
    (dim,), shape = site.dims, _shape_of(data)
    before, after = (_sizes(shape, dims) for dims in (range(dim), range(dim + 1, site.options["rank"])))
    sizes = ops.concat([before, _shape_of(index), after], 0).output(0)
    value = _broadcast(_typed(ops.constant(site.options["value"]).output(0), data), sizes)
    return _scattered(site, data, _broadcast(_along(site, index), sizes), value, "none")


def _along(site: IndexUse, index: Output) -> Output:
    """Reshape a vector of indices to broadcast along the dimension that they address."""
    sizes = [1] * site.options["rank"]
    sizes[site.dims[0]] = -1
    return _reshaped(index, sizes)


def _scattered(
    site: IndexUse, data: Output, index: Output, updates: Output, reduction: str, use_init_val: bool = True
) -> Output:
    axis = ops.constant(site.dims[0], np.int64)
    return _named(site, ops.scatter_elements_update(data, index, _typed(updates, data), axis, reduction, use_init_val))


def _pick(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Translate x[i, j]. The indices' dimensions come first, or replace those of data if these are adjacent."""
    data, *indices = tensors
    data, coordinates = _in_front(site, data), _coordinates(site, data, indices)
    return _transposed(_named(site, ops.gather_nd(data, coordinates, 0)), _places(site))


def _put(site: IndexUse, tensors: Sequence[Output]) -> Output:
    data, *indices, values = tensors
    return _put_at(site, data, _coordinates(site, data, indices), values)


def _put_masked(site: IndexUse, tensors: Sequence[Output]) -> Output:
    data, mask, values = tensors
    return _put_at(site, data, _places_of(mask), values)


def _places_of(mask: Output) -> Output:
    """Return the coordinates of what is not 0, one row a place."""
    return _transposed(ops.non_zero(mask, "i64").output(0), [1, 0])


def _nonzero(site: IndexUse, tensors: Sequence[Output]) -> Output:
    """Return no coordinates for a 0-d tensor, in one row if it is not 0, or none."""
    zero, one = ops.constant([0], np.int64), ops.constant([1], np.int64)
    return _named(site, ops.slice(_places_of(_reshaped(tensors[0], [-1])), zero, zero, one, one))


def _put_at(site: IndexUse, data: Output, coordinates: Output, values: Output) -> Output:
    front = _in_front(site, data)
    rest = [dim for dim in range(site.options["rank"]) if dim not in site.dims]
    parts = [_sizes(_shape_of(coordinates), range(site.options["index_rank"])), _sizes(_shape_of(data), rest)]
    shape = ops.concat(parts, 0).output(0)
    places = _places(site)  # values are laid out as x[i, j] is
    values = _transposed(_broadcast(values, _sizes(shape, places)), np.argsort(places).tolist())
    reduction = "sum" if site.options["accumulate"] else "none"
    written = _named(site, opset15.scatter_nd_update(front, coordinates, _typed(values, data), reduction))
    return _transposed(written, np.argsort([*site.dims, *rest]).tolist())


def _in_front(site: IndexUse, data: Output) -> Output:
    """Transpose the indexed dimensions to the front."""
    return _transposed(data, [*site.dims, *(dim for dim in range(site.options["rank"]) if dim not in site.dims)])


def _places(site: IndexUse) -> list[int]:
    """Return the dimensions of [indices, rest] in the order of x[i, j]."""
    first, index_rank = site.dims[0], site.options["index_rank"]
    total = index_rank + site.options["rank"] - len(site.dims)
    if site.dims != tuple(range(first, first + len(site.dims))):
        return list(range(total))
    before = list(range(index_rank, index_rank + first))
    return [*before, *range(index_rank), *range(index_rank + first, total)]


def _coordinates(site: IndexUse, data: Output, indices: Sequence[Output]) -> Output:
    """Combine the indices of several dimensions into tuples, counted from the start."""
    shape = _shape_of(data)
    counted = [_from_start(index, _sizes(shape, [dim])) for index, dim in zip(indices, site.dims, strict=True)]
    if not site.options["alike"]:
        common = counted[0]
        for index in counted[1:]:
            common = ops.broadcast(common, _shape_of(index), broadcast_spec="BIDIRECTIONAL").output(0)
        counted = [_broadcast(index, _shape_of(common)) for index in counted]
    columns = [ops.unsqueeze(index, ops.constant([-1], np.int64)).output(0) for index in counted]
    return columns[0] if len(columns) == 1 else ops.concat(columns, -1).output(0)


def _from_start(index: Output, size: Output) -> Output:
    """Count an index from the start; one out of bounds stays out of bounds."""
    wide = index if index.get_element_type().get_type_name() == "i64" else ops.convert(index, "i64").output(0)
    zero, far = ops.constant(0, np.int64), ops.constant(FAR, np.int64)
    counted = ops.add(wide, size)
    return ops.select(ops.less(wide, zero), ops.select(ops.less(counted, zero), far, counted), wide).output(0)


def _signed(index: Output) -> Output:
    """Convert indices of bytes, which PyTorch takes, to i64, as GatherElements takes i32 and i64 only."""
    return ops.convert(index, "i64").output(0) if index.get_element_type().get_type_name() == "u8" else index


def _cut(tensor: Output, index: Output, dims: Sequence[int]) -> Output:
    """Slice a tensor to the sizes of the indices, in some dimensions."""
    if not dims:
        return tensor
    axes = ops.constant(list(dims), np.int64)
    start, step = (ops.constant([number] * len(dims), np.int64) for number in (START, 1))
    return ops.slice(tensor, start, _sizes(_shape_of(index), dims), step, axes).output(0)


def _shape_of(tensor: Output) -> Output:
    shape = tensor.get_partial_shape()
    if shape.is_static:
        return ops.constant(np.array(list(shape.to_shape()), np.int64)).output(0)
    return ops.shape_of(tensor, "i64").output(0)


def _sizes(shape: Output, dims: Sequence[int] | range) -> Output:
    """Select sizes of a shape, in this order."""
    node = shape.get_node()
    if node.get_type_name() == "Constant":
        return ops.constant(np.asarray(node.data)[list(dims)].astype(np.int64)).output(0)
    return ops.gather(shape, ops.constant(np.array(list(dims), np.int64)), ops.constant(0, np.int64)).output(0)


def _broadcast(tensor: Output, shape: Output) -> Output:
    return ops.broadcast(tensor, shape).output(0)


def _reshaped(tensor: Output, sizes: Sequence[int]) -> Output:
    return ops.reshape(tensor, ops.constant(list(sizes), np.int64), False).output(0)


def _transposed(tensor: Output, order: Sequence[int]) -> Output:
    if list(order) == sorted(order):
        return tensor
    return ops.transpose(tensor, ops.constant(list(order), np.int64)).output(0)


def _named(site: IndexUse, node: Node) -> Output:
    """Name an operation after its node in the program."""
    node.set_friendly_name(site.name)
    return node.output(0)


def _typed(tensor: Output, like: Output) -> Output:
    """Convert a tensor to the type of another; the front end may have widened it."""
    same = tensor.get_element_type() == like.get_element_type() and not like.get_element_type().is_dynamic()
    return tensor if same else ops.convert_like(tensor, like).output(0)


_BY_KIND: Mapping[str, Callable[[IndexUse, Sequence[Output]], Output]] = {
    "gather": _gather,  # case 1
    "none": _none,
    "unchanged": _unchanged,
    "take": _take,  # case 2
    "scatter": _scatter,  # case 3
    "add_slices": _write_slices,  # case 4
    "copy_slices": _write_slices,  # case 4, with reduction="none"
    "fill_slices": _fill_slices,  # case 4, with a number as v and reduction="none"
    "pick": _pick,  # case 5
    "put": _put,  # case 6
    "put_masked": _put_masked,  # case 6, with Transpose(NonZero(mask)) as coordinates
    "places": _nonzero,
}
