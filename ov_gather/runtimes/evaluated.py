"""The layers of an IR computed one after another by what defines each: no transformation, no plugin.

The gather family is computed by its NumPy reference, other layers by OpenVINO's own evaluation of single nodes, which shares no
code with the CPU plugin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import openvino as ov
from numpy.typing import NDArray

from ov_gather.ir.model import Model
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.reference import evaluate
from ov_gather.runtimes.base import RefusedError, Runtime
from ov_gather.runtimes.openvino import OpenVINORuntime
from ov_gather.runtimes.session import element_type_of, to_array, to_tensor

_Array = NDArray[Any]


class EvaluatedRuntime(Runtime[Model]):
    """Evaluation of a model, layer by layer."""

    name = "evaluated"
    version = OpenVINORuntime.version

    def activate(self, model: Model, threads: int = 0) -> None:
        """Read a Model. Raises RefusedError with OpenVINO's reason."""
        layers = tuple(replace(layer, name=str(layer.id)) for layer in model.layers)  # names need not be unique
        self._views = {str(view.layer.id): view for view in family_layers(model)}
        self._model = OpenVINORuntime().read(replace(model, layers=layers))

    def execute(self, inputs: Sequence[_Array]) -> list[_Array]:
        """Compute the outputs. Raises RefusedError if one cannot be computed."""
        outputs = self.evaluate(inputs)
        if any(array is None for array in outputs):
            raise RefusedError("OpenVINO does not evaluate a node")
        return [array for array in outputs if array is not None]

    def evaluate(self, inputs: Sequence[_Array]) -> list[_Array | None]:
        """Compute the outputs; None for each that depends on a layer that cannot be evaluated."""
        known = {node.get_friendly_name(): [array] for node, array in zip(self._model.get_parameters(), inputs, strict=True)}
        for node in self._model.get_ordered_ops():
            name = node.get_friendly_name()
            if name in known:
                continue
            sources = [(source.get_node().get_friendly_name(), source.get_index()) for source in node.input_values()]
            if all(source in known for source, _ in sources):
                known |= self._computed(name, node, [known[source][port] for source, port in sources])
        return [known[name][0] if (name := node.get_friendly_name()) in known else None for node in self._model.get_results()]

    def _computed(self, name: str, node: ov.Node, operands: list[_Array]) -> dict[str, list[_Array]]:
        """Return the outputs of a node by its name; nothing if they cannot be computed."""
        types = [element_type_of(port) for port in node.outputs()]
        if node.get_type_name() == "Result":
            return {name: operands}
        if node.get_type_name() == "Constant" and hasattr(node, "get_tensor_view"):  # not in 2024.6, which copies it below
            return {name: [to_array(node.get_tensor_view(), types[0])]}
        if view := self._views.get(name):
            try:
                return {name: [evaluate(view.operation, operands, view.attributes_for(operands))]}
            except (IndexError, ValueError):  # an index out of bounds, shapes that do not fit
                return {}
        tensors = [to_tensor(array, element_type_of(port)) for array, port in zip(operands, node.inputs(), strict=True)]
        found = [ov.Tensor(getattr(ov.Type, kind.name), ov.Shape([0])) for kind in types]
        try:
            is_evaluated = node.evaluate(found, tensors)
        except RuntimeError:
            return {}
        return {name: [to_array(tensor, kind) for tensor, kind in zip(found, types, strict=True)]} if is_evaluated else {}
