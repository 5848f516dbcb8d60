"""Inputs for a whole IR, generated from what its graph says: indices in range, other integers 0 or 1, the rest random."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION
from ov_gather.crosscheck.cases.values import for_model
from ov_gather.ir.constants import constant
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.layer_view import LayerView, family_layers

# Where the values of an input come out again: as they are, or those of a part. Through these an index is followed.
_CARRIERS = {"Broadcast", "Clamp", "Concat", "Convert", "ConvertLike", "Gather", "GatherElements", "GatherND", "Maximum"}
_CARRIERS |= {"Minimum", "Pad", "Reshape", "Select", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"}
_CARRIERS |= {"Unsqueeze", "VariadicSplit"}


def generate_inputs(model: Model, seed: int) -> list[NDArray[Any]]:
    """One array for each Parameter of an IR, in their order; the same for the same seed.

    An open dimension is OPEN_DIMENSION, or next to it where it is bounded. What reaches the indices of a gather-family layer
    stays within its data. Into the bodies of sub-graphs, indices are not followed.

    Raises ValueError where a Parameter tells no type or no rank, has no valid value, or is too large to generate.
    """
    rng = np.random.default_rng(seed)
    indices = _Indices(model)
    arrays = []
    for layer in model.of_type("Parameter"):
        if layer.declared_type is None or layer.declared_shape is None or layer.declared_shape.dims is None:
            raise ValueError(f"{layer} may have any type or rank")
        shape = _closed(layer.declared_shape, OPEN_DIMENSION).sizes
        arrays.append(for_model(rng, str(layer), layer.declared_type, shape, list(indices.bounds(layer))))
    return arrays


def _closed(shape: PartialShape, size: int) -> PartialShape:
    return shape if shape.dims is None else PartialShape.of(dim.closest_to(size) for dim in shape.dims)


class _Indices:
    """Which values lead to which indices."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._views = {view.layer.id: view for view in family_layers(model) if view.has_all_ports}
        self._users: defaultdict[int, list[tuple[Layer, int]]] = defaultdict(list)
        for layer, port, source, _ in model.links:
            self._users[source.id].append((layer, layer.inputs.index(port)))

    def bounds(self, source: Layer) -> Iterator[tuple[int, int]]:
        """The lowest value and the end, for each layer whose indices the output of this one reaches."""
        seen: set[int] = set()
        waiting = [(source, 0)]  # with what is added on the way
        while waiting:
            reached, shift = waiting.pop()
            users = [] if reached.id in seen else self._users[reached.id]
            seen.add(reached.id)
            for layer, position in users:
                view = self._views.get(layer.id)
                if view and position == view.operation.index_rule.port:
                    yield -shift, _smallest_size(view) - shift
                elif layer.type in ("Add", "Subtract"):
                    waiting.append((layer, shift + self._shift(layer, position)))
                elif layer.type in _CARRIERS:
                    waiting.append((layer, shift))

    def _shift(self, layer: Layer, position: int) -> int:
        """What Add and Subtract add to the input at this position, if that is one constant number."""
        source = self._model.producer(layer, layer.inputs[1 - position])
        if not source or source[0].type != "Const" or (layer.type == "Subtract" and position == 1):
            return 0
        values = constant(self._model, source[0])
        number = int(values.reshape(())) if values.size == 1 and values.dtype.kind in "iu" else 0
        return -number if layer.type == "Subtract" else number


def _smallest_size(view: LayerView) -> int:
    """Of what the indices of a layer go along. Where that is open, it is as small as can be, unless it is a Parameter's."""
    data, *others = view.input_shapes
    source = view.producer(0)
    is_given = source is not None and source[0].type == "Parameter"
    shapes = [_closed(data, OPEN_DIMENSION if is_given else 1), *others]
    attributes = view.attributes
    sizes = None if attributes is None else view.operation.index_rule.sizes(shapes, attributes)
    return min(sizes or (1,))
