"""`gather_scatter`, the aggregation of graph networks in one pass: gather rows and reduce them by another index."""

from __future__ import annotations

from operator import index as as_integer
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.kernels import native, reference
from ov_gather.kernels.annotations import ScalarT, TensorT, Values
from ov_gather.kernels.arguments import as_arguments, checked_indices, checked_output, out_of_bounds
from ov_gather.kernels.reductions import NATIVE
from ov_gather.kernels.tensors import has_tensor, on_arrays

AggregationName = Literal["sum", "add", "mean", "min", "max"]

_REDUCTIONS = {"sum": "add", "add": "add", "mean": "add", "min": "min", "max": "max"}
"""Name of a reduction -> ONNX's name of what is computed; a mean is a sum, divided."""
_KINDS = {"float32": "f", "float16": "f", "bfloat16": "b"}
"""Name of a dtype -> its kind in the compiled kernel."""
_MOST = np.iinfo(np.int32).max
"""The most rows and edges that the compiled kernel takes."""


@overload
def gather_scatter(
    data: Values,
    source: Values,
    target: Values,
    size: int,
    weight: Values | None = None,
    *,
    reduction: AggregationName = "sum",
    out: TensorT,
) -> TensorT: ...
@overload
def gather_scatter(
    data: NDArray[ScalarT],
    source: Values,
    target: Values,
    size: int,
    weight: Values | None = None,
    *,
    reduction: AggregationName = "sum",
    out: None = None,
) -> NDArray[ScalarT]: ...
@overload
def gather_scatter(
    data: TensorT,
    source: Values,
    target: Values,
    size: int,
    weight: Values | None = None,
    *,
    reduction: AggregationName = "sum",
    out: None = None,
) -> TensorT: ...
@overload
def gather_scatter(
    data: ArrayLike,
    source: Values,
    target: Values,
    size: int,
    weight: Values | None = None,
    *,
    reduction: AggregationName = "sum",
    out: None = None,
) -> NDArray[Any]: ...
def gather_scatter(
    data: Values,
    source: Values,
    target: Values,
    size: int,
    weight: Values | None = None,
    *,
    reduction: AggregationName = "sum",
    out: Any = None,
) -> Any:
    """Reduce `weight[e] * data[source[e]]` over all edges e with `target[e] == i` to `output[i]`.

    The messages `data[source]` are never in memory: each row of the output is computed at once, in float32. A row without
    edges is 0. A row is reduced in the order of its edges, so the result does not depend on the number of threads, and
    float32 without a weight gives the same bits as a gather and a scatter. min and max propagate NaN.

    Args:
        data: float32, float16 or bfloat16, rank r >= 1: a row, `data[j]`, for each node.
        source: int32 or int64, `[edges]`: the row of data of each edge; negative indices count from the end.
        target: int32 or int64, `[edges]`: the row of the output of each edge; negative indices count from the end.
        size: the number of rows of the output.
        weight: of data's dtype, `[edges]` or `[edges, *data.shape[1:k]]` with k <= r: for each edge one weight; one for each
            head, where rows are `[heads, width]`; or one for each element.
        reduction: "sum" (or "add"), "mean", "min" or "max".
        out: an array of the result's shape and data's dtype to write to. It may overlap neither the inputs nor itself. When an
            index is out of bounds its content is undefined.

    Returns:
        An array of shape `[size, *data.shape[1:]]` and data's dtype; `out` if given.

    Raises:
        IndexError: an index is out of bounds; the message names the first one of source, else of target.
        TypeError: a dtype is wrong, or size is not an integer.
        ValueError: a rank, a shape, the size or the reduction is wrong, or `out` is read-only, or overlaps an input or itself.

    Source: PyTorch Geometric's `scatter(x.index_select(0, source) * weight, target, 0, size, reduce)`; with a sum and one
    weight an edge, the product of a sparse and a dense matrix.
    """
    kernel = native.load()
    if kernel is not None and isinstance(reduction, str) and reduction in _REDUCTIONS:
        number = NATIVE[_REDUCTIONS[reduction]]
        done = kernel.gather_scatter(data, source, target, size, weight, number, reduction == "mean", out)
        if isinstance(done, np.ndarray):
            return done
    if has_tensor(data, source, target, weight, out):
        options = {"size": size, "reduction": reduction}
        return on_arrays(_on_arrays, data, source, target, weight, **options, out=out)
    table, sources, targets = as_arguments("gather_scatter", data=data, source=source, target=target)
    weights = None if weight is None else as_arguments("gather_scatter", weight=weight)[0]
    rows = _checked_size(size)
    if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
        raise ValueError(f"gather_scatter: reduction must be one of {', '.join(_REDUCTIONS)}, not {reduction!r}")
    sources, targets = _checked_edges(sources, "source"), _checked_edges(targets, "target")
    _check_shapes(table, sources, targets, weights)
    others = [sources, targets] if weights is None else [sources, targets, weights]
    given = checked_output("gather_scatter", out, (rows, *table.shape[1:]), table, *others)
    output = given if given.flags.c_contiguous and given.dtype.isnative else np.empty(given.shape, _native(given.dtype))
    if not _aggregate(table, sources, targets, weights, output, reduction):
        raise _index_error(sources, targets, table.shape[0], rows)
    if output is not given:
        given[...] = output
    return given if out is None else out


def _on_arrays(data: Any, source: Any, target: Any, weight: Any, **options: Any) -> NDArray[Any]:
    return gather_scatter(data, source, target, options.pop("size"), weight, **options)


_on_arrays.__name__ = "gather_scatter"  # which errors name


def _checked_size(size: int) -> int:
    try:
        rows = as_integer(size)
    except TypeError:
        raise TypeError(f"gather_scatter: size must be an integer, not {size!r}") from None
    if rows < 0:
        raise ValueError(f"gather_scatter: size must be 0 or more, not {rows}")
    return rows


def _checked_edges(indices: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the indices in native byte order. Raises TypeError, ValueError."""
    if indices.ndim != 1:
        raise ValueError(f"gather_scatter: {name} must have a rank of 1, not {indices.ndim}")
    return checked_indices("gather_scatter", indices, name)


def _check_shapes(data: NDArray[Any], sources: NDArray[Any], targets: NDArray[Any], weights: NDArray[Any] | None) -> None:
    if data.ndim == 0:
        raise ValueError("gather_scatter: data must have a rank of at least 1")
    if data.dtype.name not in _KINDS:
        raise TypeError(f"gather_scatter: data must be float32, float16 or bfloat16, not {data.dtype}")
    if sources.shape != targets.shape:
        raise ValueError(f"gather_scatter: source {sources.shape} and target {targets.shape} must have the same shape")
    if weights is None:
        return
    if weights.dtype != data.dtype:
        raise TypeError(f"gather_scatter: weight must have data's dtype {data.dtype}, not {weights.dtype}")
    if weights.ndim == 0 or weights.shape != (sources.size, *data.shape[1 : weights.ndim]):
        whole = (sources.size, *data.shape[1:])
        raise ValueError(f"gather_scatter: weight {weights.shape} must have the first dimensions of {whole}, at least one")


def _aggregate(
    data: NDArray[Any],
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[Any] | None,
    output: NDArray[Any],
    reduction: str,
) -> bool:
    """Fill a contiguous `output`, on the compiled kernel if possible; return True if all indices are in bounds."""
    kernel = native.load()
    if kernel is None or max(data.shape[0], output.shape[0], sources.size) > _MOST:
        return reference.aggregate(data, sources, targets, weights, output, _REDUCTIONS[reduction], reduction == "mean")
    data, sources, targets = _plain(data), _plain(sources), _plain(targets)
    weights = None if weights is None else _plain(weights)
    kind = _KINDS[data.dtype.name]
    number = NATIVE[_REDUCTIONS[reduction]]
    in_bounds: bool = kernel.aggregate(data, sources, targets, weights, output, kind, number, reduction == "mean")
    return in_bounds


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as the compiled kernel takes it: contiguous, aligned, of the native byte order."""
    return np.ascontiguousarray(native.plain(array), _native(array.dtype))


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("=")


def _index_error(sources: NDArray[Any], targets: NDArray[Any], nodes: int, rows: int) -> IndexError:
    """Return the error for the first index out of bounds; for position 0 of target if another thread has repaired all."""
    position = reference.first_out_of_bounds(sources, nodes)
    if position != reference.ALL_IN_BOUNDS:
        return out_of_bounds("gather_scatter", sources, (position,), 0, nodes, "source")
    position = max(reference.first_out_of_bounds(targets, rows), 0)
    return out_of_bounds("gather_scatter", targets, (position,), 0, rows, "target")
