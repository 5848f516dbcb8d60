"""Incremental construction of a Model, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ov_gather.ir.element_types import STRING, ElementType
from ov_gather.ir.model import Edge, Layer, Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.tree import legal
from ov_gather.ir.weights import Weights, pack_bits, pack_strings


@dataclass(frozen=True, slots=True)
class PortRef:
    """One output of a layer in a model under construction."""

    layer: int
    port: int
    element_type: ElementType
    shape: PartialShape


class ModelBuilder:
    """Builder of a Model: its methods add layers and return their output Values; `build` returns the Model.

    Characters that XML does not allow are escaped in names.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._layers: list[Layer] = []
        self._edges: list[Edge] = []
        self._payload = bytearray()

    def parameter(self, name: str, element_type: ElementType, shape: PartialShape) -> PortRef:
        """Add a Parameter, an input of the model."""
        attributes = {"shape": shape.attribute(), "element_type": element_type.name}
        return self.layer("Parameter", name, "opset1", attributes, [], [(element_type, shape)])[0]

    def const(self, name: str, element_type: ElementType, array: NDArray[Any]) -> PortRef:
        """Add a Const. `array` holds elements of `element_type`; strings are `str` objects."""
        if element_type is STRING:
            data = pack_strings(array)
        elif element_type.bits % 8:
            data = pack_bits(array, element_type.bits)
        else:
            data = array.tobytes()
        return self.const_from_payload(name, element_type, array.shape, data)

    def const_from_payload(
        self, name: str, element_type: ElementType, sizes: Sequence[int], data: bytes | memoryview
    ) -> PortRef:
        """Add a Const from its bytes as the .bin holds them."""
        # A Const without elements still owns one byte, as OpenVINO writes it.
        data = data if len(data) else b"\0"
        shape = PartialShape.of(sizes)
        attributes = {
            "element_type": element_type.name,
            "shape": ", ".join(map(str, sizes)),
            "offset": str(len(self._payload)),
            "size": str(len(data)),
        }
        self._payload += data
        return self.layer("Const", name, "opset1", attributes, [], [(element_type, shape)])[0]

    def result(self, name: str, value: PortRef) -> None:
        """Add a Result, an output of the model."""
        self.layer("Result", name, "opset1", {}, [value], [], {"output_names": tensor_names(legal(name))})

    def layer(
        self,
        type: str,
        name: str,
        version: str,
        attributes: Mapping[str, str],
        inputs: Sequence[PortRef],
        outputs: Sequence[tuple[ElementType, PartialShape]],
        extra: Mapping[str, str] | None = None,
        tensor: str | None = None,
    ) -> list[PortRef]:
        """Add any layer. `tensor` names its output tensors; the default is the name of the layer."""
        layer_id = len(self._layers)
        name, tensor = legal(name), legal(name if tensor is None else tensor)
        names = {"names": tensor_names(tensor)} if tensor else {}
        values = [PortRef(layer_id, len(inputs) + i, *output) for i, output in enumerate(outputs)]
        given = tuple(_port(i, value, {}) for i, value in enumerate(inputs))
        made = tuple(_port(value.port, value, names) for value in values)
        self._layers.append(Layer(layer_id, name, type, version, attributes, given, made, extra or {}))
        self._edges += [Edge(value.layer, value.port, layer_id, i) for i, value in enumerate(inputs)]
        return values

    def build(self) -> Model:
        """Return the model, whose payloads are in memory."""
        return Model(tuple(self._layers), tuple(self._edges), legal(self.name), weights=Weights(self._payload))


def tensor_names(name: str) -> str:
    """Escape the commas in a tensor name, since a comma separates names in the attributes `names` and `output_names`."""
    return name.replace(",", "\\,")


def _port(port_id: int, value: PortRef, attributes: Mapping[str, str]) -> Port:
    return Port(port_id, value.shape.sizes, value.element_type.precision, attributes)
