"""Inputs for an ONNX model, generated from what its graph says: indices in range, masks of 0 and 1, everything else random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.cases.sizes import OPEN_DIMENSION
from ov_gather.cases.values import for_model
from ov_gather.ir.element_types import ElementType, by_onnx
from ov_gather.onnx_layers import GATHERS, attribute

Inputs = dict[str, NDArray[Any]]

# Where the values of the first input come out again: as they are, or those of a part. Through these an index is followed.
_CARRIERS = {*GATHERS, "Cast", "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Expand", "Tile", "Transpose"}
_CARRIERS |= {"Slice", "Split", "Concat", "Pad", "Clip", "Max", "Min", "Where"}
_INDEXED = {"Gather": "axis", "GatherElements": "axis", "ScatterElements": "axis"}


def generate_inputs(model: onnx_ir.Model, seed: int) -> Inputs:
    """One array for each input of a model that has no value; the same for the same seed.

    An open dimension is OPEN_DIMENSION, wherever its name stands. Integers that reach the indices of a gather or a scatter stay
    within its data; all others are 0 or 1, as those of masks are; floating-point numbers are normally distributed.

    Raises ValueError where an input is no tensor, or too large to generate; TypeError where OpenVINO has no such type.
    """
    rng = np.random.default_rng(seed)
    return {
        str(value.name): _generate(rng, value) for value in model.graph.inputs if value.name not in model.graph.initializers
    }


def check_inputs(model: onnx_ir.Model, given: Mapping[str, NDArray[Any]]) -> Inputs:
    """Given inputs in the order of the model's. Raises ValueError, TypeError where they are not what it declares."""
    wanted = {str(it.name): it for it in model.graph.inputs if it.name not in model.graph.initializers}
    if given.keys() != wanted.keys():
        raise ValueError(f"inputs are given for {', '.join(given) or 'nothing'}; the model needs {', '.join(wanted) or 'none'}")
    for name, value in wanted.items():
        array, element_type = given[name], _element_type(value)
        if array.dtype != element_type.dtype:
            raise TypeError(f"input '{name}' must be {element_type}, not {array.dtype}")
        declared = list(value.shape) if value.shape is not None else list(array.shape)
        fits = len(declared) == array.ndim and all(
            not isinstance(dim, int) or dim == size for dim, size in zip(declared, array.shape, strict=True)
        )
        if not fits:
            raise ValueError(f"input '{name}' has shape {list(array.shape)}; the model declares {declared}")
    return {name: given[name] for name in wanted}


def _generate(rng: np.random.Generator, value: onnx_ir.Value) -> NDArray[Any]:
    element_type = _element_type(value)
    if value.shape is None:
        raise ValueError(f"input '{value.name}' may have any rank: give the inputs")
    shape = tuple(dim if isinstance(dim, int) else OPEN_DIMENSION for dim in value.shape)
    return for_model(rng, f"input '{value.name}'", element_type, shape, list(_index_bounds(value, set())))


def _element_type(value: onnx_ir.Value) -> ElementType:
    if not isinstance(value.type, onnx_ir.TensorType):
        raise ValueError(f"input '{value.name}' is not a tensor")
    found = by_onnx(value.type.dtype.value)
    if found is None:
        raise TypeError(f"input '{value.name}' is {value.type.dtype.name}; OpenVINO has no such type")
    return found


def _index_bounds(value: onnx_ir.Value, seen: set[int]) -> Iterator[tuple[int, int]]:
    """The lowest value and the end, for each gather and scatter whose indices this value reaches."""
    if id(value) in seen:
        return
    seen.add(id(value))
    for node, position in value.uses():
        if node.op_type in (*_INDEXED, "GatherND", "ScatterND") and position == 1:
            yield 0, _smallest_size(node)
        elif node.op_type in ("Add", "Sub"):
            for low, end in _index_bounds(node.outputs[0], seen):
                shift = _shift(node, position)
                yield low - shift, end - shift
        elif node.op_type in _CARRIERS:
            for output in node.outputs:
                yield from _index_bounds(output, seen)


def _smallest_size(node: onnx_ir.Node) -> int:
    """Of the axes that the indices of a node go along; an open one is as small as can be."""
    data = node.inputs[0]
    sizes = [dim if isinstance(dim, int) else 1 for dim in (data.shape if data is not None and data.shape is not None else [1])]
    if node.op_type not in _INDEXED:
        return min(sizes)
    axis = attribute(node, "axis", 0)
    return sizes[axis] if -len(sizes) <= axis < len(sizes) else 1


def _shift(node: onnx_ir.Node, position: int) -> int:
    """What Add and Sub add to the input at this position, if that is one constant number."""
    other = node.inputs[1 - position]
    tensor = None if other is None else onnx_ir.convenience.get_const_tensor(other)
    if tensor is None or tensor.size != 1 or (node.op_type == "Sub" and position == 1):
        return 0
    number = int(tensor.numpy().reshape(()))
    return -number if node.op_type == "Sub" else number
