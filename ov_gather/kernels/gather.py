"""The gather functions of the Python API: check the arguments, pick the kernel, name the index that is out of bounds."""

from __future__ import annotations

from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference

INDEX_DTYPES = (np.dtype(np.int32), np.dtype(np.int64))


def kernel_name(dtype: np.dtype[Any]) -> str:
    """Which kernel computes a gather of elements of `dtype` here: "native" or "reference"."""
    return "native" if native.supports(dtype) and native.load() else "reference"


def gather_elements(data: ArrayLike, indices: ArrayLike, axis: int = 0, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Gather along one axis: `output[p] = data[p with p[axis] replaced by indices[p]]`.

    Args:
        data: any dtype, rank r >= 1.
        indices: int32 or int64, rank r. Off the axis no dimension may exceed data's; a smaller one gathers from the leading
            part of data. Values in `[-s, s-1]`, s = size of `axis` in data; negative ones count from the end. A stride-0
            view (`np.broadcast_to`) is read as it is, never materialised by the compiled kernel.
        axis: in `[-r, r-1]`.
        out: an array of indices' shape and data's dtype to write to. It may not overlap the inputs. When an index is out of
            bounds its content is undefined.

    Returns:
        An array of indices' shape and data's dtype; `out` if given.

    Raises:
        IndexError: an index is out of bounds. It names the first one, in row-major order.
        TypeError: a dtype is wrong.
        ValueError: a rank, a shape or the axis is wrong, or `out` is read-only or overlaps an input.

    Source: ONNX GatherElements-13.
    """
    kernel = native.load()
    if kernel is not None:
        done = kernel.gather_elements(data, indices, axis, out)
        if isinstance(done, np.ndarray):
            return done
    return _gather_elements(np.asarray(data), np.asarray(indices), axis, out)


def _gather_elements(data: NDArray[Any], indices: NDArray[Any], axis: int, out: NDArray[Any] | None) -> NDArray[Any]:
    """What the compiled kernel does not take as it is: arguments that are wrong, or arrays that are not plain."""
    if indices.dtype.kind != "i" or indices.dtype.newbyteorder("=") not in INDEX_DTYPES:
        raise TypeError(f"gather_elements: indices must be int32 or int64, not {indices.dtype}")
    axis = _checked_axis("gather_elements", axis, data, indices)
    output = _checked_output("gather_elements", out, indices.shape, data, indices)
    native_order = indices.astype(indices.dtype.newbyteorder("="), copy=False)
    kernel = native.load() if native.supports(data.dtype) else None
    if kernel is None:
        position = reference.gather_elements(data, native_order, axis, output)
    else:
        done = kernel.gather_elements(native.plain(data), native.plain(native_order), axis, None)
        position = reference.ALL_IN_BOUNDS
        if isinstance(done, int):
            position = done
        else:
            output[...] = done
    if position != reference.ALL_IN_BOUNDS:
        raise IndexError(_out_of_bounds("gather_elements", indices, position, axis, data.shape[axis]))
    return output


def _checked_axis(function: str, axis: int, data: NDArray[Any], indices: NDArray[Any]) -> int:
    rank = data.ndim
    if rank == 0 or indices.ndim != rank:
        raise ValueError(f"{function}: data and indices must have the same rank of at least 1, not {rank} and {indices.ndim}")
    axis = as_integer(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{function}: axis {axis} is out of range for rank {rank} (valid {-rank}..{rank - 1})")
    axis %= rank
    for i, (have, want) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if i != axis and want > have:
            raise ValueError(
                f"{function}: indices of shape {indices.shape} exceed data of shape {data.shape} in dimension {i}; "
                f"only along axis {axis} may they be larger"
            )
    return axis


def _checked_output(
    function: str, out: NDArray[Any] | None, shape: tuple[int, ...], data: NDArray[Any], indices: NDArray[Any]
) -> NDArray[Any]:
    if out is None:
        return np.empty(shape, data.dtype)
    if not isinstance(out, np.ndarray) or out.dtype != data.dtype:
        given = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"{function}: out must be an array of data's dtype {data.dtype}, not {given}")
    if out.shape != shape:
        raise ValueError(f"{function}: out must have indices' shape {shape}, not {out.shape}")
    if not out.flags.writeable:
        raise ValueError(f"{function}: out is read-only")
    if _overlap(out, data) or _overlap(out, indices):
        raise ValueError(f"{function}: out overlaps an input")
    return out


def _overlap(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays have a byte in common; also True where that would be too hard to tell."""
    try:
        return np.shares_memory(one, other, max_work=10_000)  # type: ignore[arg-type]  # the stub knows only 0 and -1
    except np.exceptions.TooHardError:
        return True


def _out_of_bounds(function: str, indices: NDArray[Any], position: int, axis: int, size: int) -> str:
    where = np.unravel_index(position, indices.shape)
    valid = f"valid {-size}..{size - 1}" if size else "no index is valid"
    return (
        f"{function}: indices[{', '.join(map(str, where))}] = {indices[where]} "
        f"is out of bounds for axis {axis} of size {size} ({valid})"
    )
