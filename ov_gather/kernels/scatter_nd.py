"""`scatter_nd`, the inverse of `gather_nd`: write slices at coordinate tuples."""

from __future__ import annotations

from math import prod
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_indices, checked_output
from ov_gather.kernels.reductions import NATIVE, check_updates, checked_reduction, kind_of, reduce_into
from ov_gather.kernels.tensors import has_tensor, on_arrays
from ov_gather.kernels.tuples import flatten

Reduction = Literal["none", "add", "mul", "min", "max", "sum", "prod"]


@overload
def scatter_nd(data: Values, indices: Values, updates: Values, *, reduction: Reduction = "none", out: TensorT) -> TensorT: ...
@overload
def scatter_nd(
    data: NDArray[ScalarT], indices: Values, updates: Values, *, reduction: Reduction = "none", out: None = None
) -> NDArray[ScalarT]: ...
@overload
def scatter_nd(
    data: TensorT, indices: Values, updates: Values, *, reduction: Reduction = "none", out: None = None
) -> TensorT: ...
@overload
def scatter_nd(
    data: ArrayLike, indices: Values, updates: Values, *, reduction: Reduction = "none", out: None = None
) -> NDArray[Any]: ...
def scatter_nd(
    data: Values,
    indices: Values,
    updates: Values,
    *,
    reduction: Reduction = "none",
    out: Any = None,
) -> Any:
    """Copy data, then update `output[tuple(indices[p])]` by `updates[p]` for every position p of tuples.

    Updates of the same element apply in the order of their positions: without a reduction the last one wins. float16 and
    bfloat16 are reduced in float32; integers wrap around; min and max propagate NaN, and compare complex numbers as NumPy does:
    by the real part, then by the imaginary part.

    Args:
        data: any dtype (numbers if there is a reduction), rank r >= 1.
        indices: int32 or int64, rank q >= 1, its last dimension k <= r; k = 0 names the whole of data. A coordinate lies in
            `[-s, s-1]`, s = size of the dimension that it indexes; negative ones count from the end.
        updates: shape `indices.shape[:-1] + data.shape[k:]` and data's dtype.
        reduction: how an update combines with the element; "none" replaces it. "sum" is "add", and "prod" is "mul".
        out: an array of data's shape and dtype to write to. It may overlap neither the inputs nor itself.

    Returns:
        An array of data's shape and dtype; `out` if given.

    Raises:
        IndexError: a coordinate is out of bounds; the message names the first one, in row-major order. Nothing is written then.
        TypeError: a dtype is wrong.
        ValueError: a rank, a shape or the reduction is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: ONNX ScatterND-18, OpenVINO ScatterNDUpdate-15.
    """
    kernel = native.load()
    if kernel is not None and isinstance(reduction, str) and reduction in NATIVE:
        done = kernel.scatter_nd(data, indices, updates, NATIVE[reduction], out)
        if isinstance(done, np.ndarray):
            return done
    name = checked_reduction("scatter_nd", reduction)
    if has_tensor(data, indices, updates, out):
        return on_arrays(scatter_nd, data, indices, updates, reduction=name, out=out)
    table, where, values = as_arguments("scatter_nd", data=data, indices=indices, updates=updates)
    where = checked_indices("scatter_nd", where)
    if table.ndim == 0 or where.ndim == 0:
        raise ValueError("scatter_nd: data and indices must have a rank of at least 1")
    depth = where.shape[-1]
    if depth > table.ndim:
        raise ValueError(f"scatter_nd: tuples of {depth} coordinates index data of rank {table.ndim}")
    dims = table.shape[:depth]
    check_updates("scatter_nd", values, table, where.shape[:-1] + table.shape[depth:], "the shape of tuples and slices")
    output = checked_output("scatter_nd", out, table.shape, table, where, values)
    flat = flatten("scatter_nd", where, dims)
    output[...] = table

    def update(output: NDArray[Any], updates: NDArray[Any], reduction: str) -> bool:
        _update(output, flat, updates, prod(dims), reduction)
        return True

    reduce_into("scatter_nd", output, values, name, update)
    return output if out is None else out


def _update(output: NDArray[Any], flat: NDArray[Any], updates: NDArray[Any], rows: int, reduction: str) -> None:
    """Update rows of `output`, on the compiled kernel if it supports the dtype."""
    kernel = native.load() if native.supports(output.dtype) else None
    target = np.ascontiguousarray(native.plain(output) if kernel else output)
    if kernel is None:
        reference.scatter_nd(target, flat, updates, rows, reduction)
    else:
        given = np.ascontiguousarray(native.plain(updates))
        kernel.update_rows(target, rows, flat, given, kind_of(output.dtype), NATIVE[reduction])
    if target is not output:
        output[...] = target
