"""`scatter_elements`, the inverse of `gather_elements`."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_elements, checked_indices, checked_output, out_of_bounds, unravel
from ov_gather.kernels.reductions import NATIVE, check_updates, checked_reduction, kind_of, reduce_into
from ov_gather.kernels.tensors import has_tensor, on_arrays

Reduction = Literal["none", "add", "mul", "min", "max", "mean", "sum", "prod"]


@overload
def scatter_elements(
    data: Values,
    indices: Values,
    updates: Values,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    use_init_val: bool = True,
    out: TensorT,
) -> TensorT: ...
@overload
def scatter_elements(
    data: NDArray[ScalarT],
    indices: Values,
    updates: Values,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    use_init_val: bool = True,
    out: None = None,
) -> NDArray[ScalarT]: ...
@overload
def scatter_elements(
    data: TensorT,
    indices: Values,
    updates: Values,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    use_init_val: bool = True,
    out: None = None,
) -> TensorT: ...
@overload
def scatter_elements(
    data: ArrayLike,
    indices: Values,
    updates: Values,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    use_init_val: bool = True,
    out: None = None,
) -> NDArray[Any]: ...
def scatter_elements(
    data: Values,
    indices: Values,
    updates: Values,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    use_init_val: bool = True,
    out: Any = None,
) -> Any:
    """Copy data, then update `output[p with p[axis] replaced by indices[p]]` by `updates[p]` for every position p.

    Updates of the same element apply in the order of their positions: without a reduction the last one wins. float16 and
    bfloat16 are reduced in float32; integers wrap around; the mean of integers is rounded down; min and max propagate NaN, and
    compare complex numbers as NumPy does: by the real part, then by the imaginary part.

    Args:
        data: any dtype (numbers if there is a reduction), rank r >= 1.
        indices: int32 or int64, rank r. Off the axis no dimension may exceed data's. Values in `[-s, s-1]`, s = size of `axis`
            in data; negative ones count from the end.
        updates: of indices' shape and data's dtype.
        axis: in `[-r, r-1]`.
        reduction: how an update combines with the element; "none" replaces it. "sum" is "add", and "prod" is "mul".
        use_init_val: whether the element of data takes part in the reduction.
        out: an array of data's shape and dtype to write to. It may overlap neither the inputs nor itself. When an
            index is out of bounds its content is undefined.

    Returns:
        An array of data's shape and dtype; `out` if given.

    Raises:
        IndexError: an index is out of bounds; the message names the first one, in row-major order.
        TypeError: a dtype is wrong.
        ValueError: a rank, a shape, the axis or the reduction is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: ONNX ScatterElements-18, OpenVINO ScatterElementsUpdate-12.
    """
    if not isinstance(use_init_val, bool | np.bool_):
        raise TypeError(f"scatter_elements: use_init_val must be True or False, not {use_init_val!r}")
    kernel = native.load()
    if kernel is not None and use_init_val and isinstance(reduction, str) and reduction in NATIVE:
        done = kernel.scatter_elements(data, indices, updates, axis, NATIVE[reduction], out)
        if isinstance(done, np.ndarray):
            return done
    name = checked_reduction("scatter_elements", reduction, "mean")
    if has_tensor(data, indices, updates, out):
        options = {"axis": axis, "reduction": name, "use_init_val": use_init_val}
        return on_arrays(scatter_elements, data, indices, updates, **options, out=out)
    table, where, values = as_arguments("scatter_elements", data=data, indices=indices, updates=updates)
    where = checked_indices("scatter_elements", where)
    axis = checked_elements("scatter_elements", table, where, axis)
    check_updates("scatter_elements", values, table, where.shape, "indices' shape")
    given = checked_output("scatter_elements", out, table.shape, table, where, values)
    output = given if given.flags.c_contiguous else np.empty(given.shape, given.dtype)
    output[...] = table
    if name == "mean" or not use_init_val:
        where = reference.snapshot(where)  # indices are read several times

    def update(output: NDArray[Any], updates: NDArray[Any], reduction: str) -> bool:
        return _reduce(output, where, updates, axis, reduction, use_init_val)

    in_bounds = reduce_into("scatter_elements", output, values, name, update)
    if not in_bounds:
        # If another thread has repaired the indices since, report position 0: the error then says that they changed.
        position = max(reference.first_out_of_bounds(where, table.shape[axis]), 0)
        raise out_of_bounds("scatter_elements", where, unravel(position, where.shape), axis, table.shape[axis])
    if output is not given:
        given[...] = output
    return given if out is None else out


def _reduce(
    output: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, reduction: str, use_init_val: bool
) -> bool:
    """Reduce updates into `output`; return True if all indices are in bounds."""
    if reduction == "mean":
        return _mean(output, indices, updates, axis, use_init_val)
    if not use_init_val and reduction != "none":
        neutral = np.full((), _neutral(reduction, output.dtype), output.dtype)
        _update(output, indices, np.broadcast_to(neutral, indices.shape), axis, "none")
    return _update(output, indices, updates, axis, reduction)


def _mean(output: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, use_init_val: bool) -> bool:
    counts = np.zeros(output.shape, np.int64)
    ones = np.broadcast_to(np.ones((), np.int64), indices.shape)
    if not _update(counts, indices, ones, axis, "add"):
        return False
    updated = counts > 0
    _reduce(output, indices, updates, axis, "add", use_init_val)
    counts += use_init_val
    divide = np.floor_divide if output.dtype.kind in "iu" else np.divide
    for part in (output.real, output.imag) if output.dtype.kind == "c" else (output,):
        divide(part, counts.astype(part.dtype), out=part, where=updated)
    return True


def _neutral(reduction: str, dtype: np.dtype[Any]) -> Any:
    """Return the neutral element of a reduction."""
    if reduction in ("add", "mul"):
        return int(reduction == "mul")
    if dtype.kind == "b":
        return reduction == "min"
    if dtype.kind in "fc":
        last = np.inf if reduction == "min" else -np.inf
        return complex(last, last) if dtype.kind == "c" else last
    return np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min


def _update(output: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: int, reduction: str) -> bool:
    """Update a contiguous `output`, on the compiled kernel if possible; return True if all indices are in bounds."""
    kernel = native.load() if native.supports(output.dtype) else None
    if kernel is None:
        indices = reference.snapshot(indices)
        if reference.first_out_of_bounds(indices, output.shape[axis]) != reference.ALL_IN_BOUNDS:
            return False
        reference.scatter_elements(output, indices, updates, axis, reduction)
        return True
    target = native.plain(output)
    in_bounds: bool = kernel.update_elements(
        target, native.plain(indices), native.plain(updates), axis, kind_of(output.dtype), NATIVE[reduction]
    )
    if target is not output:
        output[...] = target
    return in_bounds
