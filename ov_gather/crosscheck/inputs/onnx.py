"""Inputs for an ONNX model, made up from what its graph says: indices in range, masks of 0 and 1, everything else random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.open_sizes import Sizes, choices, closed
from ov_gather.ir.element_types import ElementType, by_onnx
from ov_gather.ops.onnx_nodes import GATHERS, attribute

Inputs = dict[str, NDArray[Any]]

# Where the values of the first input come out again: as they are, or those of a part. Through these an index is followed.
_CARRIERS = {*GATHERS, "Cast", "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Expand", "Tile", "Transpose"}
_CARRIERS |= {"Slice", "Split", "Concat", "Pad", "Clip", "Max", "Min", "Where"}
_ALONG_AXIS = ("Gather", "GatherElements", "ScatterElements")
_INDEXED = {**dict.fromkeys((*_ALONG_AXIS, "GatherND", "ScatterND"), 1), "OneHot": 0}
"""Where an operator takes its indices."""


class NoInputsError(ValueError):
    """Inputs cannot be made up for a model."""


def made_up_inputs(model: onnx_ir.Model, seed: int) -> Iterator[Inputs]:
    """For one choice of open sizes after the other, an array for each input of a model that has no value; the same for the same
    seed. Which choice the model accepts, only who executes it can tell.

    Integers that reach the indices of a gather, a scatter or a OneHot stay within its data, those that are compared with a row
    of integers within these; those of 8 bits have any value, and all others are 0 or 1, as those of masks are. Floating-point
    numbers are normally distributed.

    Raises NoInputsError where an input may have any rank, or has no valid value or is too large in every choice; ValueError
    where it is no tensor; TypeError where OpenVINO has no such type.
    """
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    for value in inputs:
        _element_type(value)
        if value.shape is None:
            raise NoInputsError(f"input '{value.name}' may have any rank")
    refusal, count = "", 0
    for sizes in choices(inputs):
        rng = np.random.default_rng(seed)
        try:
            made = {str(value.name): _make_up(rng, value, sizes) for value in inputs}
        except ValueError as error:
            refusal = refusal or str(error)
            continue
        yield made
        count += 1
    if not count:
        raise NoInputsError(refusal)


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
            closed(dim) in (None, size) for dim, size in zip(declared, array.shape, strict=True)
        )
        if not fits:
            raise ValueError(f"input '{name}' has shape {list(array.shape)}; the model declares {declared}")
    return {name: given[name] for name in wanted}


def _make_up(rng: np.random.Generator, value: onnx_ir.Value, sizes: Sizes) -> NDArray[Any]:
    shape = sizes.shapes[str(value.name)]
    return for_model(rng, f"input '{value.name}'", _element_type(value), shape, list(_index_bounds(value, sizes)))


def _element_type(value: onnx_ir.Value) -> ElementType:
    if not isinstance(value.type, onnx_ir.TensorType):
        raise ValueError(f"input '{value.name}' is not a tensor")
    found = by_onnx(value.type.dtype.value)
    if found is None:
        raise TypeError(f"input '{value.name}' is {value.type.dtype.name}; OpenVINO has no such type")
    return found


def _index_bounds(source: onnx_ir.Value, sizes: Sizes) -> Iterator[tuple[int, int]]:
    """The lowest value and the end, for each node whose indices this value reaches."""
    seen: set[onnx_ir.Value] = set()
    waiting = [(source, 0)]  # with what is added on the way
    while waiting:
        value, shift = waiting.pop()
        uses = () if value in seen else value.uses()
        seen.add(value)
        for node, position in uses:
            if _INDEXED.get(node.op_type) == position:
                yield -shift, _smallest_size(node, sizes) - shift
            elif node.op_type == "Equal":
                yield from _compared_with(node.inputs[1 - position], shift)
            elif node.op_type in ("Add", "Sub"):
                waiting.append((node.outputs[0], shift + _shift(node, position)))
            elif node.op_type in _CARRIERS:
                waiting += [(output, shift) for output in node.outputs]


def _compared_with(value: onnx_ir.Value | None, shift: int) -> Iterator[tuple[int, int]]:
    """The bounds of a row of integers, for what is compared with one is a class, of which it makes a one-hot vector."""
    tensor = None if value is None else onnx_ir.convenience.get_const_tensor(value)
    if tensor is not None and tensor.dtype.is_integer() and tensor.size > 2:
        row = tensor.numpy()
        yield int(row.min()) - shift, int(row.max()) + 1 - shift


def _smallest_size(node: onnx_ir.Node, sizes: Sizes) -> int:
    """Of the axes that the indices of a node go along; an open one is as small as can be."""
    if node.op_type == "OneHot":
        return _number(node.inputs[1]) or 2
    data = node.inputs[0]
    dims = sizes.smallest(data) if data is not None and data.shape is not None else (1,)
    if node.op_type not in _ALONG_AXIS:
        return min(dims, default=1)
    axis = attribute(node, "axis", 0)
    return dims[axis] if -len(dims) <= axis < len(dims) else 1


def _shift(node: onnx_ir.Node, position: int) -> int:
    """What Add and Sub add to the input at this position, if that is one constant number."""
    number = None if node.op_type == "Sub" and position == 1 else _number(node.inputs[1 - position])
    return (-number if node.op_type == "Sub" else number) if number else 0


def _number(value: onnx_ir.Value | None) -> int | None:
    """The integer that a constant holds, if that is its only element."""
    tensor = None if value is None else onnx_ir.convenience.get_const_tensor(value)
    is_integer = tensor is not None and tensor.size == 1 and tensor.dtype.is_integer()
    return int(tensor.numpy().reshape(())) if tensor is not None and is_integer else None
