"""`gather_nd`, computed as a `gather` over the indexed dimensions flattened to one."""

from __future__ import annotations

from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_axis, checked_indices, checked_output
from ov_gather.kernels.gather import gather
from ov_gather.kernels.tensors import has_tensor, on_arrays
from ov_gather.kernels.tuples import flatten


@overload
def gather_nd(data: Values, indices: Values, batch_dims: int = 0, *, out: TensorT) -> TensorT: ...
@overload
def gather_nd(data: NDArray[ScalarT], indices: Values, batch_dims: int = 0, *, out: None = None) -> NDArray[ScalarT]: ...
@overload
def gather_nd(data: TensorT, indices: Values, batch_dims: int = 0, *, out: None = None) -> TensorT: ...
@overload
def gather_nd(data: ArrayLike, indices: Values, batch_dims: int = 0, *, out: None = None) -> NDArray[Any]: ...
def gather_nd(data: Values, indices: Values, batch_dims: int = 0, *, out: Any = None) -> Any:
    """Gather slices that coordinate tuples name: `output[b, i] = data[b, *indices[b, i]]`.

    b ranges over the first `batch_dims` dimensions, i over the other dimensions of indices except the last, which holds the
    coordinates.

    Args:
        data: any dtype, rank r >= 1.
        indices: int32 or int64, rank q >= 1, its last dimension k <= r - batch_dims; k = 0 names a whole batch. A coordinate
            lies in `[-s, s-1]`, s = size of the dimension that it indexes; negative ones count from the end.
        batch_dims: in `[0, min(q, r) - 1]`; number of leading dimensions that data and indices share.
        out: an array of the result's shape and data's dtype to write to. It may overlap neither the inputs nor itself.

    Returns:
        An array of shape `indices.shape[:-1] + data.shape[batch_dims + k:]` and data's dtype; `out` if given.

    Raises:
        IndexError: a coordinate is out of bounds; the message names the first one, in row-major order.
        TypeError: a dtype is wrong.
        ValueError: a shape or `batch_dims` is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: ONNX GatherND-13, OpenVINO GatherND-8.
    """
    kernel = native.load()
    if kernel is not None:
        done = kernel.gather_nd(data, indices, batch_dims, out)
        if isinstance(done, np.ndarray):
            return done
    if has_tensor(data, indices, out):
        return on_arrays(gather_nd, data, indices, batch_dims=batch_dims, out=out)
    table, where = as_arguments("gather_nd", data=data, indices=indices)
    where = checked_indices("gather_nd", where)
    if table.ndim == 0 or where.ndim == 0:
        raise ValueError("gather_nd: data and indices must have a rank of at least 1")
    ranks = min(table.ndim, where.ndim)
    batch = checked_axis("gather_nd", "batch_dims", batch_dims, ranks)
    if batch != batch_dims:
        raise ValueError(f"gather_nd: batch_dims {batch_dims} is negative")
    if table.shape[:batch] != where.shape[:batch]:
        raise ValueError(
            f"gather_nd: the first {batch} dimensions (batch_dims) of data {table.shape} and indices {where.shape} differ"
        )
    depth = where.shape[-1]
    if batch + depth > table.ndim:
        raise ValueError(f"gather_nd: tuples of {depth} coordinates index data of rank {table.ndim} behind {batch} batch_dims")
    dims, behind = table.shape[batch : batch + depth], table.shape[batch + depth :]
    output = checked_output("gather_nd", out, where.shape[:-1] + behind, table, where)
    if output.size != 0 or where.size != 0:
        flat = flatten("gather_nd", where, dims, batch)
        whole = table.reshape(*table.shape[:batch], prod(dims), *behind)
        gather(whole, flat, batch, batch, out=output)
    return output if out is None else out
