"""Generated inputs for an IR: indices in range, other integers 0 or 1, and random values elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION
from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.bounds import index_bounds, one_number
from ov_gather.ir.constants import constant
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ops.attribute import parse_integer
from ov_gather.ops.meanings import OPENVINO


def generate_inputs(model: Model, seed: int) -> list[NDArray[Any]]:
    """Generate one array per Parameter of an IR, in order; deterministic for a given seed.

    Open dimensions get the size OPEN_DIMENSION, clamped to their bounds. Values that reach the indices of a layer stay in
    bounds; values are not followed into bodies of sub-graphs.

    Raises ValueError if a Parameter declares no type or no rank, has no valid value, or is too large to allocate.
    """
    rng = np.random.default_rng(seed)
    graph = _Layers(model)
    arrays = []
    for layer in model.of_type("Parameter"):
        if layer.declared_type is None or layer.declared_shape is None or layer.declared_shape.dims is None:
            raise ValueError(f"{layer} may have any type or rank")
        shape = tuple(dim.closest_to(OPEN_DIMENSION) for dim in layer.declared_shape.dims)
        arrays.append(for_model(rng, str(layer), layer.declared_type, shape, list(index_bounds(graph, layer.id))))
    return arrays


class _Layers:
    """An IR as an `IndexGraph`. Nodes and values are both layer ids: the outputs of a layer count as one value."""

    meanings = OPENVINO

    def __init__(self, model: Model) -> None:
        self._model = model
        self._layers = {layer.id: layer for layer in model.layers}
        self._uses: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for layer, port, source, _ in model.links:
            self._uses[source.id].append((layer.id, layer.inputs.index(port)))

    def operator(self, node: int) -> str:
        return self._layers[node].type

    def uses(self, value: int) -> Iterable[tuple[int, int]]:
        return self._uses[value]

    def outputs(self, node: int) -> Iterable[int]:
        return (node,)

    def constant(self, node: int, position: int) -> NDArray[Any] | None:
        source = self._source(node, position)
        if source is None or source[0].type != "Const":
            return None
        array = constant(self._model, source[0])
        return array if array.dtype.kind in "iu" else None

    def axis(self, node: int) -> int | None:
        layer = self._layers[node]
        if "axis" in layer.attributes:
            return _integer(layer.attributes["axis"])
        return one_number(self.constant(node, len(layer.inputs) - 1))

    def batch_dims(self, node: int) -> int:
        return _integer(self._layers[node].attributes.get("batch_dims", "0")) or 0

    def sizes(self, node: int, position: int) -> tuple[int, ...]:
        source = self._source(node, position)
        if source is None:
            return ()
        layer, port = source
        open_size = OPEN_DIMENSION if layer.type == "Parameter" else 1
        shape = layer.declared_shape or port.shape
        return tuple(dim.closest_to(open_size) for dim in shape.dims or ())

    def _source(self, node: int, position: int) -> tuple[Layer, Port] | None:
        layer = self._layers[node]
        return self._model.producer(layer, layer.inputs[position]) if position < len(layer.inputs) else None


def _integer(text: str) -> int | None:
    """Parse an integer attribute; None if it is malformed, which validation reports."""
    try:
        return parse_integer(text)
    except ValueError:
        return None
