"""`gather`, computed as a gather of elements with broadcast indices."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_axis, checked_indices, checked_output, out_of_bounds, unravel
from ov_gather.kernels.gather_elements import fill
from ov_gather.kernels.tensors import has_tensor, on_arrays

Bounds = Literal["error", "zero"]


@overload
def gather(
    data: Values, indices: Values, axis: int = 0, batch_dims: int = 0, *, bounds: Bounds = "error", out: TensorT
) -> TensorT: ...
@overload
def gather(
    data: NDArray[ScalarT], indices: Values, axis: int = 0, batch_dims: int = 0, *, bounds: Bounds = "error", out: None = None
) -> NDArray[ScalarT]: ...
@overload
def gather(
    data: TensorT, indices: Values, axis: int = 0, batch_dims: int = 0, *, bounds: Bounds = "error", out: None = None
) -> TensorT: ...
@overload
def gather(
    data: ArrayLike, indices: Values, axis: int = 0, batch_dims: int = 0, *, bounds: Bounds = "error", out: None = None
) -> NDArray[Any]: ...
def gather(
    data: Values,
    indices: Values,
    axis: int = 0,
    batch_dims: int = 0,
    *,
    bounds: Bounds = "error",
    out: Any = None,
) -> Any:
    """Gather slices along one axis: `output[b, o, i, n] = data[b, o, indices[b, i], n]`.

    b ranges over the first `batch_dims` dimensions, o over data's dimensions from there to `axis`, i over the remaining
    dimensions of indices, n over data's dimensions behind `axis`.

    Args:
        data: any dtype, rank r >= 1.
        indices: int32 or int64, any rank q >= 0. Its first `batch_dims` dimensions equal data's. Values in `[-s, s-1]`,
            s = size of `axis` in data; negative ones count from the end.
        axis: in `[-r, r-1]`, not before `batch_dims`.
        batch_dims: in `[-q, q]`; negative ones count from the end.
        bounds: what an index out of bounds does: "error" raises, "zero" yields zeros ("" for strings).
        out: an array of the result's shape and data's dtype to write to. It may overlap neither the inputs nor itself.

    Returns:
        An array of data's dtype, shape `data.shape[:axis] + indices.shape[batch_dims:] + data.shape[axis + 1:]`; `out` if
        given.

    Raises:
        IndexError: an index is out of bounds; the message names the first one, in row-major order.
        TypeError: a dtype is wrong.
        ValueError: a shape, the axis, `batch_dims` or `bounds` is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: ONNX Gather-13; with `bounds="zero"` OpenVINO Gather-8.
    """
    if not isinstance(bounds, str) or bounds not in ("error", "zero"):
        raise ValueError(f"gather: bounds must be 'error' or 'zero', not {bounds!r}")
    kernel = native.load()
    if kernel is not None:
        done = kernel.gather(data, indices, axis, batch_dims, out, bounds == "zero")
        if isinstance(done, np.ndarray):
            return done
    if has_tensor(data, indices, out):
        return on_arrays(gather, data, indices, axis=axis, batch_dims=batch_dims, bounds=bounds, out=out)
    table, where = as_arguments("gather", data=data, indices=indices)
    output = _gather(table, where, axis, batch_dims, bounds, out)
    return output if out is None else out


def _gather(
    table: NDArray[Any], where: NDArray[Any], axis: int, batch_dims: int, bounds: Bounds, out: NDArray[Any] | None
) -> NDArray[Any]:
    """Gather arguments that the compiled kernel does not accept directly, and raise the errors for wrong ones."""
    where = checked_indices("gather", where)
    if table.ndim == 0:
        raise ValueError("gather: data is a scalar; it must have a rank of at least 1")
    axis = checked_axis("gather", "axis", axis, table.ndim)
    batch = batch_dims if batch_dims == where.ndim else checked_axis("gather", "batch_dims", batch_dims, where.ndim)
    if batch > axis:
        raise ValueError(f"gather: batch_dims {batch} exceeds axis {axis}")
    if table.shape[:batch] != where.shape[:batch]:
        raise ValueError(
            f"gather: the first {batch} dimensions (batch_dims) of data {table.shape} and indices {where.shape} differ"
        )
    before, behind = table.shape[:axis], table.shape[axis + 1 :]
    output = checked_output("gather", out, before + where.shape[batch:] + behind, table, where)
    if output.size == 0 and bounds == "error":  # nothing to gather, but check the indices
        position = reference.first_out_of_bounds(where, table.shape[axis])
        if position != reference.ALL_IN_BOUNDS:
            raise out_of_bounds("gather", where, unravel(position, where.shape), axis, table.shape[axis])
        return output

    # Flatten indices (behind the batch) to one dimension, at the axis, and broadcast it (stride 0) along data's other
    # dimensions.
    count = where[(0,) * batch].size if where.size else 0
    target = (*before, count, *behind)
    column = where.reshape(where.shape[:batch] + (1,) * (axis - batch) + (count,) + (1,) * len(behind))
    elements = output.reshape(target)
    position = fill(table, np.broadcast_to(column, target), axis, elements, bounds == "zero")
    if position != reference.ALL_IN_BOUNDS:
        place = unravel(position, target)
        first = unravel(place[axis], where.shape[batch:])
        raise out_of_bounds("gather", where, place[:batch] + first, axis, table.shape[axis])
    if not np.may_share_memory(elements, output):
        output[...] = elements.reshape(output.shape)
    return output
