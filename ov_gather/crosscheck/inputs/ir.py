"""Generated inputs for an IR: indices in range, other integers 0 or 1, and random values elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION
from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.bounds import index_bounds, is_searched
from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Key
from ov_gather.ir.model import Model
from ov_gather.ops.table import OPENVINO

OPEN_DIMENSIONS = (OPEN_DIMENSION, 256)
"""Sizes of open dimensions to try; the second one suffices for windows and for paddings of sound."""


def generate_inputs(
    model: Model, seed: int, given: Mapping[str, NDArray[Any]] = MappingProxyType({}), open_size: int = OPEN_DIMENSION
) -> list[NDArray[Any]]:
    """Return one array per Parameter of an IR, in order: a given one by its name, or one that is made up for the seed.

    Open dimensions get the size `open_size`, clamped to their bounds. Values that reach the indices of a layer stay in
    bounds; values are not followed into bodies of sub-graphs.

    Raises ValueError if another Parameter declares no type or no rank, has no valid value, or is too large to allocate.
    """
    rng = np.random.default_rng(seed)
    graph = IrGraph(model)
    inputs = {node.outputs[0] for node in graph.nodes("Parameter") if node.outputs}

    def sizes(key: Key) -> tuple[int, ...]:
        size = open_size if key in inputs else 1
        return tuple(dim.closest_to(size) for dim in graph.shape_of(key).dims or ())

    arrays = []
    for layer in model.parameters:
        if layer.name in given:
            arrays.append(given[layer.name])
            continue
        if layer.declared_type is None or layer.declared_shape is None or layer.declared_shape.dims is None:
            raise ValueError(f"{layer} may have any type or rank")
        shape = tuple(dim.closest_to(open_size) for dim in layer.declared_shape.dims)
        keys = [(0, layer.id, port.id) for port in layer.outputs]
        bounds = [one for key in keys for one in index_bounds(graph, key, OPENVINO, sizes)]
        searched = any(is_searched(graph, key, OPENVINO) for key in keys)
        arrays.append(for_model(rng, str(layer), layer.declared_type, shape, bounds, is_searched=searched))
    return arrays
