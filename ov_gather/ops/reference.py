"""Reference implementation of every operation, by NumPy indexing alone; independent of the functions that users call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.kernels import reference
from ov_gather.kernels.arguments import as_index_dtype, out_of_bounds, unravel
from ov_gather.kernels.reduction_names import onnx_name
from ov_gather.ops.spec import Arrays, Attributes, Operation

_Array = NDArray[Any]


def _product(old: Any, new: Any) -> Any:
    """Multiply; round every step of a complex product, which NumPy does on some CPUs only."""
    if not np.iscomplexobj(old):
        return np.multiply(old, new)
    output = np.empty_like(old)
    output.real = old.real * new.real - old.imag * new.imag
    output.imag = old.real * new.imag + old.imag * new.real
    return output


_OF_BOOLEANS = {"add": "max", "mul": "min", "sub": "xor"}
_COMBINE: Mapping[str, Callable[[Any, Any], Any]] = {
    "none": lambda old, new: new,
    "add": np.add,
    "sub": np.subtract,
    "mul": _product,
    "min": np.minimum,
    "max": np.maximum,
    "xor": np.logical_xor,
}


def evaluate(operation: Operation, operands: Arrays, attributes: Attributes) -> _Array:
    """Compute the first output of an operation by its reference. Raises IndexError for an index out of bounds."""
    return operation.reference(operands, attributes)[0]


def compute(name: str, operands: Arrays, attributes: Attributes) -> _Array:
    """Compute the output of an operation of the family. Raises IndexError for an index out of bounds, unless it fills zeros."""
    data, indices, *others = operands
    updates = others[:1] if name.startswith("scatter") else []
    dtype = data.dtype
    if dtype.name in ("float16", "bfloat16") and _reduction(attributes, data) != "none":
        data, *updates = (array.astype(np.float32) for array in (data, *updates))
    return _COMPUTE[name](data, as_index_dtype(indices), *updates, attributes).astype(dtype, copy=False)


def _gather_elements(data: _Array, indices: _Array, attributes: Attributes) -> _Array:
    axis = attributes["axis"] % data.ndim
    _check(indices, axis, data.shape[axis])
    if attributes.get("lanes"):
        indices = np.broadcast_to(indices[..., np.newaxis], (*indices.shape, data.shape[-1]))
    if attributes.get("broadcast"):
        indices = np.broadcast_to(indices, (*data.shape[:axis], indices.shape[axis], *data.shape[axis + 1 :]))
    output = np.empty(indices.shape, data.dtype)
    reference.gather_elements(data, indices, axis, output)
    return np.swapaxes(output, -1, -2) if attributes.get("transpose") else output


def _gather(data: _Array, indices: _Array, attributes: Attributes) -> _Array:
    axis, batch = attributes["axis"] % data.ndim, attributes.get("batch_dims", 0)
    batch += indices.ndim if batch < 0 else 0
    size = data.shape[axis]
    bad = (indices < -size) | (indices >= size)
    if attributes.get("bounds") != "zero":
        _check(indices, axis, size)
    output = np.empty((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)
    nothing = reference.zero_of(data.dtype)
    if size == 0 or output.size == 0:
        output[...] = nothing
        return output
    positions = np.where(bad, 0, indices).astype(np.intp) % size
    for place in np.ndindex(*data.shape[:batch]):
        taken = output[(*place, ...)]
        taken[...] = np.take(data[place], positions[place], axis - batch)
        taken[(*(slice(None),) * (axis - batch), bad[place])] = nothing
    return output


def _gather_nd(data: _Array, indices: _Array, attributes: Attributes) -> _Array:
    batch, depth = attributes["batch_dims"], indices.shape[-1]
    for k in range(depth):
        _check(indices[..., k], batch + k, data.shape[batch + k])
    output = np.empty((*indices.shape[:-1], *data.shape[batch + depth :]), data.dtype)
    for place in np.ndindex(*data.shape[:batch]):
        coordinates = tuple(np.moveaxis(indices[place], -1, 0).astype(np.intp))
        output[place] = data[place][coordinates] if depth else data[place]
    return output


def _reduction(attributes: Attributes, data: _Array) -> str:
    name = onnx_name(attributes.get("reduction", "none"))
    return _OF_BOOLEANS.get(name, name) if data.dtype == bool else name


def _scatter(data: _Array, indices: _Array, updates: _Array, attributes: Attributes) -> _Array:
    axis, reduction = attributes["axis"] % max(data.ndim, 1), _reduction(attributes, data)
    _check(indices, axis, data.shape[axis])
    output = data.copy()

    def update(target: NDArray[Any], values: Any, how: str) -> None:
        reference.scatter_elements(target, indices, np.broadcast_to(values, indices.shape).astype(target.dtype), axis, how)

    if reduction == "none":
        update(output, updates, "none")
        return output
    if not attributes.get("use_init_val", True):
        update(output, updates if reduction in ("min", "max") else reduction == "mul", "none")
    with np.errstate(all="ignore"):
        update(output, updates, "add" if reduction == "mean" else reduction)
        if reduction == "mean":
            counts = np.zeros(data.shape, np.int64)
            update(counts, 1, "add")
            divisors = np.where(counts, counts + bool(attributes.get("use_init_val", True)), 1).astype(data.dtype)
            output = output // divisors if data.dtype.kind in "iu" else output / divisors
    return output


def _scatter_update(data: _Array, indices: _Array, updates: _Array, attributes: Attributes) -> _Array:
    axis = attributes["axis"] % data.ndim
    _check(indices, axis, data.shape[axis])
    output, before = data.copy(), (slice(None),) * axis
    for place in np.ndindex(*indices.shape):
        output[(*before, indices[place])] = updates[(*before, *place)]
    return output


def _scatter_nd(data: _Array, indices: _Array, updates: _Array, attributes: Attributes) -> _Array:
    depth, reduction = indices.shape[-1], _reduction(attributes, data)
    for k in range(depth):
        _check(indices[..., k], k, data.shape[k])
    updates = updates.reshape(indices.shape[:-1] + data.shape[depth:])
    output = data.copy()
    with np.errstate(all="ignore"):
        for place in np.ndindex(*indices.shape[:-1]):
            at = tuple(indices[place])
            output[at] = _COMBINE[reduction](output[at], updates[place])
    return output


def _check(indices: NDArray[Any], axis: int, size: int) -> None:
    position = reference.first_out_of_bounds(indices, size)
    if position != reference.ALL_IN_BOUNDS:
        raise out_of_bounds("reference", indices, unravel(position, indices.shape), axis, size)


_COMPUTE: Mapping[str, Callable[..., _Array]] = {
    "gather_elements": _gather_elements,
    "gather": _gather,
    "gather_nd": _gather_nd,
    "scatter_elements": _scatter,
    "scatter_update": _scatter_update,
    "scatter_nd": _scatter_nd,
}
