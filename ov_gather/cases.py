"""Cases: the inputs for one execution of a model, generated from what its Parameters and layers declare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops.layer_view import LayerView, family_layers

OPEN_DIMENSION = 6
"""The size that an open dimension gets, as far as its bounds allow."""
MAX_ELEMENTS = 1 << 26
"""The largest input that is generated; larger ones must be given."""

_Bounds = tuple[NDArray[Any], NDArray[Any]]  # the lowest value and the end; of tuples for each coordinate


def generate(model: Model, seed: int) -> list[NDArray[Any]]:
    """One array for each Parameter of a model whose layers stand in topological order; the same for the same seed.

    Open dimensions get sizes that the layers accept; Parameters that feed indices get values in the range that the operation
    specifies; all others random values, floating-point ones normally distributed, integers over their whole range.

    Raises ValueError where no valid input exists, or none of a size that fits into memory.
    """
    rng = np.random.default_rng(seed)
    sizes, bounds = _plan(model)
    arrays = []
    for layer in model.layers:
        if layer.type != "Parameter":
            continue
        element_type = layer.declared_type
        shape = sizes[layer.id]
        if element_type is None:
            raise ValueError(f"{layer} has an unknown element_type")
        if element_count(shape) > MAX_ELEMENTS:
            raise ValueError(f"{layer} of shape {list(shape)} is too large to generate: give the inputs")
        if layer.id in bounds:
            arrays.append(_indices(rng, layer, element_type, shape, bounds[layer.id]))
        else:
            arrays.append(_values(rng, element_type, shape))
    return arrays


def _plan(model: Model) -> tuple[dict[int, tuple[int, ...]], dict[int, _Bounds]]:
    """By Parameter id: its sizes; and, where only some values are valid, their bounds."""
    shapes: dict[int, PartialShape] = {
        layer.id: layer.declared_shape for layer in model.layers if layer.declared_shape is not None
    }
    bounds: dict[int, _Bounds] = {}
    gathers: list[tuple[LayerView, list[Layer], _Bounds]] = []
    for view in family_layers(model):
        operation, attributes = view.operation, view.read_attributes()
        sources = [source[0] for source in map(view.producer, range(len(view.layer.inputs))) if source]
        for given, source in zip(operation.inputs, sources, strict=True):
            if given.attribute and given.attribute.name not in attributes:
                attributes[given.attribute.name] = -1  # an axis: the last is always a valid one
                bounds[source.id] = np.array(-1), np.array(0)
        chosen = operation.choose_sizes([shapes[source.id] for source in sources], attributes, OPEN_DIMENSION)
        static = [PartialShape.of(sizes) for sizes in chosen]
        shapes |= {source.id: shape for source, shape in zip(sources, static, strict=True)}
        (shapes[view.layer.id],) = operation.infer_shapes(static, attributes)
        sizes = np.array(operation.index_rule.sizes(static, attributes) or 1)
        gathers.append((view, sources, (operation.index_rule.lowest_specified(sizes), sizes)))

    for view, sources, (lowest, end) in reversed(gathers):
        indices = sources[view.operation.index_rule.port]
        known = bounds.get(indices.id, (lowest, end))
        bounds[indices.id] = np.maximum(known[0], lowest), np.minimum(known[1], end)
        if view.layer.id in bounds:  # what it gathers are indices, too
            bounds[sources[0].id] = bounds[view.layer.id]
    static_sizes = {
        layer.id: tuple(OPEN_DIMENSION if size == -1 else size for size in shapes[layer.id].sizes)
        for layer in model.layers
        if layer.type == "Parameter"
    }
    return static_sizes, bounds


def _indices(
    rng: np.random.Generator, layer: Layer, element_type: ElementType, shape: tuple[int, ...], bounds: _Bounds
) -> NDArray[Any]:
    lowest, end = bounds
    if element_count(shape) and (end <= lowest).any():
        raise ValueError(f"{layer} of shape {list(shape)} has no valid value: it indexes an axis of size {int(end.min())}")
    limits = np.iinfo(element_type.dtype)
    lowest, end = np.maximum(lowest, limits.min), np.minimum(end, limits.max)
    return rng.integers(lowest, np.maximum(end, lowest + 1), shape).astype(element_type.dtype)


def _values(rng: np.random.Generator, element_type: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    if element_type is BOOLEAN:
        return rng.integers(0, 2, shape).astype(bool)
    if element_type is STRING:
        words = np.array(["", "a", "gather", "элементы", "x" * 40], object)
        return words[rng.integers(0, len(words), shape)]
    dtype = element_type.dtype
    if element_type.name in ("f16", "bf16", "f32", "f64"):
        return rng.standard_normal(shape).astype(dtype)
    if element_type.bits % 8:
        return rng.integers(0, 1 << (element_type.bits - 1), shape).astype(dtype)
    return np.frombuffer(rng.bytes(element_count(shape) * dtype.itemsize), dtype).reshape(shape)


def check_given(model: Model, arrays: list[NDArray[Any]]) -> None:
    """Raise TypeError or ValueError where arrays are not what the Parameters of an isolated layer declare."""
    parameters = [layer for layer in model.layers if layer.type == "Parameter"]
    if len(arrays) != len(parameters):
        names = " and ".join(layer.name for layer in parameters) or "nothing"
        raise ValueError(f"{len(arrays)} inputs are given; the layer needs {names}")
    for layer, array in zip(parameters, arrays, strict=True):
        if layer.declared_type and array.dtype != layer.declared_type.dtype:
            raise TypeError(f"{layer.name} must be {layer.declared_type}, not {array.dtype}")
        if layer.declared_shape and array.shape not in layer.declared_shape:
            raise ValueError(f"{layer.name} has shape {list(array.shape)}; the layer declares {layer.declared_shape}")


def operands(view: LayerView, given: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """All inputs of an isolated layer: its constants, and in between what is given for its Parameters."""
    parameters = iter(given)
    constants = map(view.constant, range(len(view.layer.inputs)))
    return [next(parameters) if value is None else value for value in constants]
