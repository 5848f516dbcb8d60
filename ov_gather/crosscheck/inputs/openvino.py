"""Generated inputs for an `openvino.Model`: indices in range, other integers 0 or 1, and random values elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.bounds import index_bounds, is_searched
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.graph.protocol import Key
from ov_gather.ops.table import OPENVINO
from ov_gather.runtimes.session import element_type_of


def generate_inputs(model: ov.Model, seed: int = 0) -> list[NDArray[Any]]:
    """Generate one array per Parameter of a model, in order; deterministic for a given seed.

    Raises ValueError if a Parameter's shape is not static, NumPy lacks its element type, or no value is valid.
    """
    rng = np.random.default_rng(seed)
    graph = OpenvinoGraph(model)

    def sizes(key: Key) -> tuple[int, ...]:
        return tuple(dim.closest_to(1) for dim in graph.shape_of(key).dims or ())

    arrays = []
    for parameter in model.get_parameters():
        shape, place = parameter.get_partial_shape(), f"input '{parameter.get_friendly_name()}'"
        if shape.is_dynamic:
            raise ValueError(f"{place} is {shape}: inputs are made up for static shapes")
        element_type = element_type_of(parameter)
        if not element_type.numpy_name:
            raise ValueError(f"{place} is of {element_type}, for which there are no random values")
        key = graph.key(parameter.output(0))
        bounds, searched = list(index_bounds(graph, key, OPENVINO, sizes)), is_searched(graph, key, OPENVINO)
        arrays.append(for_model(rng, place, element_type, tuple(shape.to_shape()), bounds, is_searched=searched))
    return arrays
