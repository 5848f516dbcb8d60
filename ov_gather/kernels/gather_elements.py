"""`gather_elements`: checks of the arguments, choice of the kernel, and the error for an index out of bounds."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_elements, checked_indices, checked_output, out_of_bounds, unravel
from ov_gather.kernels.tensors import has_tensor, on_arrays


def kernel_name(dtype: np.dtype[Any]) -> str:
    """Return the kernel that gathers elements of `dtype` on this machine: "native" or "reference"."""
    return "native" if native.supports(dtype) and native.load() else "reference"


@overload
def gather_elements(data: Values, indices: Values, axis: int = 0, *, out: TensorT) -> TensorT: ...
@overload
def gather_elements(data: NDArray[ScalarT], indices: Values, axis: int = 0, *, out: None = None) -> NDArray[ScalarT]: ...
@overload
def gather_elements(data: TensorT, indices: Values, axis: int = 0, *, out: None = None) -> TensorT: ...
@overload
def gather_elements(data: ArrayLike, indices: Values, axis: int = 0, *, out: None = None) -> NDArray[Any]: ...
def gather_elements(data: Values, indices: Values, axis: int = 0, *, out: Any = None) -> Any:
    """Gather along one axis: `output[p] = data[p with p[axis] replaced by indices[p]]`.

    Args:
        data: any dtype, rank r >= 1.
        indices: int32 or int64, rank r. Off the axis no dimension may exceed data's; a smaller one gathers from the leading
            part of data. Values in `[-s, s-1]`, s = size of `axis` in data; negative ones count from the end. The compiled
            kernel reads a stride-0 view (`np.broadcast_to`) without materialising it.
        axis: in `[-r, r-1]`.
        out: an array of indices' shape and data's dtype to write to. It may overlap neither the inputs nor itself. When an
            index is out of bounds its content is undefined.

    Returns:
        An array of indices' shape and data's dtype; `out` if given.

    Raises:
        IndexError: an index is out of bounds; the message names the first one, in row-major order.
        TypeError: a dtype is wrong.
        ValueError: a rank, a shape or the axis is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: ONNX GatherElements-13.
    """
    kernel = native.load()
    if kernel is not None:
        done = kernel.gather_elements(data, indices, axis, out)
        if isinstance(done, np.ndarray):
            return done
    if has_tensor(data, indices, out):
        return on_arrays(gather_elements, data, indices, axis=axis, out=out)
    table, where = as_arguments("gather_elements", data=data, indices=indices)
    where = checked_indices("gather_elements", where)
    axis = checked_elements("gather_elements", table, where, axis)
    output = checked_output("gather_elements", out, where.shape, table, where)
    position = fill(table, where, axis, output)
    if position != reference.ALL_IN_BOUNDS:
        raise out_of_bounds("gather_elements", where, unravel(position, where.shape), axis, table.shape[axis])
    return output if out is None else out


def fill(data: NDArray[Any], indices: NDArray[Any], axis: int, output: NDArray[Any], zero: bool = False) -> int:
    """Gather checked arguments of any dtype into `output`. With `zero`, an index out of bounds yields zeros.

    Returns -1, or the first position (row-major in `indices`) whose index is out of bounds.
    """
    kernel = native.load() if native.supports(data.dtype) else None
    if kernel is None:
        return reference.gather_elements(data, indices, axis, output, zero)
    data, indices = native.plain(data), native.plain(indices)
    done = kernel.gather_elements(data, indices, axis, output, zero)
    if done is None:  # The output is unaligned, or interleaved with an input.
        done = kernel.gather_elements(data, indices, axis, None, zero)
    if isinstance(done, int):
        return done
    if done is not output:
        output[...] = done
    return reference.ALL_IN_BOUNDS
