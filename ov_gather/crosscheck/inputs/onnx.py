"""Generated inputs for an ONNX model: indices in range, masks of 0 and 1, and random values elsewhere.

There are several choices of sizes for open dimensions, as no single size suits every model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.converters.onnx_graph import OnnxGraph, value_of
from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION
from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.bounds import index_bounds, is_searched
from ov_gather.ir.element_types import ElementType, by_onnx
from ov_gather.ops.table import ONNX

Inputs = dict[str, NDArray[Any]]

_CHOICES = (
    # batch, channels, height or width of an image, any other
    (OPEN_DIMENSION, 3, 64, OPEN_DIMENSION),
    (1, 3, 224, OPEN_DIMENSION),
    (OPEN_DIMENSION, OPEN_DIMENSION, OPEN_DIMENSION, OPEN_DIMENSION),
    (2, 3, 320, 128),
    (1, 1, 32, 32),
    (1, 3, 640, 512),
    (2, 3, 48, 576),
    (1, 1, 28, 1),
    (1, 3, 1, 16_000),
    (32, 32, 32, 32),
    (1, 1, 1, 1),
    (256, 256, 256, 256),  # sizes without names that must be equal, and suffice for paddings of sound
)
_BATCH, _CHANNELS, _SIDE, _OTHER = range(4)
_COLOURS = (1, 3, 4)

Dim = int | onnx_ir.SymbolicDim


class NoInputsError(ValueError):
    """No inputs can be generated for a model."""


def made_up_inputs(model: onnx_ir.Model, seed: int) -> Iterator[Inputs]:
    """Yield inputs by name, one set per choice of open sizes; deterministic for a given seed.

    Inputs with an initializer are left out.

    Integers that reach the indices of a gather, a scatter or a OneHot stay in bounds; integers compared with a constant row
    stay in its range; other 8-bit integers take any value; all others are 0 or 1, as in masks. Floats are normally distributed,
    or halves if they are compared, sorted or searched.
    Only execution shows which choice of sizes the model accepts.

    Raises NoInputsError if an input has no known rank, or if each choice leaves an input without a valid value or too large;
    ValueError if an input is not a tensor; TypeError if OpenVINO lacks its element type.
    """
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    for value in inputs:
        _element_type(value)
        if value.shape is None:
            raise NoInputsError(f"input '{value.name}' may have any rank")
    refusal, count = "", 0
    graph = OnnxGraph(model)
    for sizes in choices(inputs):
        rng = np.random.default_rng(seed)
        try:
            made = {str(value.name): _make_up(rng, graph, value, sizes) for value in inputs}
        except ValueError as error:
            refusal = refusal or str(error)
            continue
        yield made
        count += 1
    if not count:
        raise NoInputsError(refusal)


def check_inputs(model: onnx_ir.Model, given: Mapping[str, NDArray[Any]]) -> Inputs:
    """Return the given inputs in the order of the model. Raises ValueError, TypeError if they differ from its declarations."""
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    wanted = {str(value.name): value for value in inputs}
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


def _make_up(rng: np.random.Generator, graph: OnnxGraph, value: onnx_ir.Value, sizes: DynamicSizes) -> NDArray[Any]:
    bounds = list(index_bounds(graph, value, ONNX, lambda key: sizes.smallest(value_of(key))))
    shape, searched = sizes.shapes[str(value.name)], is_searched(graph, value, ONNX)
    return for_model(rng, f"input '{value.name}'", _element_type(value), shape, bounds, is_searched=searched)


def _element_type(value: onnx_ir.Value) -> ElementType:
    if not isinstance(value.type, onnx_ir.TensorType):
        raise ValueError(f"input '{value.name}' is not a tensor")
    found = by_onnx(value.type.dtype.value)
    if found is None:
        raise TypeError(f"input '{value.name}' is {value.type.dtype.name}; OpenVINO has no such type")
    return found


@dataclass(frozen=True)
class DynamicSizes:
    """One choice of sizes: the shape of each input by name, and the size of each open dimension by its name or place."""

    shapes: Mapping[str, tuple[int, ...]]
    named: Mapping[str, int]

    def smallest(self, value: onnx_ir.Value) -> tuple[int, ...]:
        """Return the shape of a value; dimensions that this choice does not determine are 1."""
        if (known := self.shapes.get(str(value.name))) is not None:
            return known
        return tuple(self.named.get(str(dim), 1) if (size := closed(dim)) is None else size for dim in value.shape or ())


def choices(inputs: Sequence[onnx_ir.Value]) -> Iterator[DynamicSizes]:
    """Yield distinct choices of sizes, the most likely first. Every input must have a known rank.

    Dimensions of the same name get the same size. A name that is an expression ("past + new") is evaluated. Unnamed dimensions
    with the same role (batch, channels, ...) get the same size.
    """
    parts: dict[str, int] = {}
    dims: dict[str, Dim] = {}
    for value in inputs:
        for axis, dim in enumerate(value.shape or ()):
            if closed(dim) is None:
                parts.setdefault(_key(value, axis), _part(value, axis))
                dims.setdefault(_key(value, axis), dim)
    seen = []
    for choice in _CHOICES:
        sizes = {key: choice[part] for key, part in parts.items()}
        sizes |= {key: size for key, dim in dims.items() if (size := _computed(dim, key, sizes)) is not None}
        if sizes not in seen:
            seen.append(sizes)
            yield DynamicSizes({str(value.name): _shape(value, sizes) for value in inputs}, sizes)


def closed(dim: Dim) -> int | None:
    """Return the static size of a dimension; None if it is open, which some exporters write as -1."""
    return dim if isinstance(dim, int) and dim >= 0 else None


def _shape(value: onnx_ir.Value, sizes: Mapping[str, int]) -> tuple[int, ...]:
    known = (closed(dim) for dim in value.shape or ())
    return tuple(sizes[_key(value, axis)] if size is None else size for axis, size in enumerate(known))


def _key(value: onnx_ir.Value, axis: int) -> str:
    """Return the symbolic name of a dimension; its axis and input if it has no name."""
    dim = (value.shape or ())[axis]
    name = None if isinstance(dim, int) else dim.value
    return name or f"{axis} of {value.name}"


def _part(value: onnx_ir.Value, axis: int) -> int:
    """Guess the role of a dimension from its axis and from the rank and type of its input."""
    dims = tuple(value.shape or ())
    is_picture = len(dims) > 3 and value.dtype is not None and value.dtype.is_floating_point()
    if axis == 0 and len(dims) > 1:
        return _BATCH
    if not is_picture:
        return _OTHER
    channels = len(dims) - 1 if closed(dims[-1]) in _COLOURS and closed(dims[1]) is None else 1
    return _CHANNELS if axis == channels else _SIDE


def _computed(dim: Dim, name: str, sizes: Mapping[str, int]) -> int | None:
    """Evaluate a symbolic name that is an expression of other names; None if it is not."""
    if isinstance(dim, int) or name.isidentifier():  # cheap test first, as expressions are parsed with sympy
        return None
    try:
        if not (symbols := dim.free_symbols()) or name in symbols or not symbols <= sizes.keys():
            return None
        result = dim.evaluate(sizes)
    except ValueError:  # the name is no expression
        return None
    return result if isinstance(result, int) and result >= 0 else None
