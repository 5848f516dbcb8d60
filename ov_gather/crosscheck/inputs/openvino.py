"""Generated inputs for an `openvino.Model`: indices in range, other integers 0 or 1, and random values elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.values import for_model
from ov_gather.crosscheck.inputs.bounds import index_bounds, one_number
from ov_gather.ops.meanings import OPENVINO
from ov_gather.runtimes.session import element_type_of


def generate_inputs(model: ov.Model, seed: int = 0) -> list[NDArray[Any]]:
    """Generate one array per Parameter of a model, in order; deterministic for a given seed.

    Raises ValueError if a Parameter's shape is not static, NumPy lacks its element type, or no value is valid.
    """
    rng = np.random.default_rng(seed)
    graph = _OpenvinoNodes(model)
    arrays = []
    for parameter in model.get_parameters():
        shape, place = parameter.get_partial_shape(), f"input '{parameter.get_friendly_name()}'"
        if shape.is_dynamic:
            raise ValueError(f"{place} is {shape}: inputs are made up for static shapes")
        element_type = element_type_of(parameter)
        if not element_type.numpy_name:
            raise ValueError(f"{place} is of {element_type}, for which there are no random values")
        bounds = list(index_bounds(graph, parameter.get_instance_id()))
        arrays.append(for_model(rng, place, element_type, tuple(shape.to_shape()), bounds))
    return arrays


class _OpenvinoNodes:
    """An `openvino.Model` as an `IndexGraph`. Nodes and values are instance ids, as a node may have many Python objects."""

    meanings = OPENVINO

    def __init__(self, model: ov.Model) -> None:
        self._nodes = {node.get_instance_id(): node for node in model.get_ordered_ops()}

    def operator(self, node: int) -> str:
        return str(self._nodes[node].get_type_name())

    def uses(self, value: int) -> Iterable[tuple[int, int]]:
        for output in self._nodes[value].outputs():
            for port in output.get_target_inputs():
                yield port.get_node().get_instance_id(), port.get_index()

    def outputs(self, node: int) -> Iterable[int]:
        return (node,)

    def constant(self, node: int, position: int) -> NDArray[Any] | None:
        source = self._nodes[node].input_value(position).get_node()
        if source.get_type_name() != "Constant" or not source.get_element_type().is_integral_number():
            return None
        return np.asarray(source.data)

    def axis(self, node: int) -> int | None:
        attributes = self._nodes[node].get_attributes()
        if "axis" in attributes:
            return int(attributes["axis"])
        return one_number(self.constant(node, self._nodes[node].get_input_size() - 1))

    def batch_dims(self, node: int) -> int:
        return int(self._nodes[node].get_attributes().get("batch_dims", 0))

    def sizes(self, node: int, position: int) -> tuple[int, ...]:
        shape = self._nodes[node].get_input_partial_shape(position)
        return tuple(max(1, dim.get_min_length()) for dim in shape) if shape.rank.is_static else ()
