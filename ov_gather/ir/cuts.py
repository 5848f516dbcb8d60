"""Cuts of a Model: exposing inner values as outputs, and extracting a part as a model of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ov_gather.ir.builder import tensor_names
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.model import Edge, Layer, Model, Port, ValueId
from ov_gather.ir.shapes import PartialShape
from ov_gather.system.traversal import reachable


@dataclass(frozen=True, slots=True)
class NewInput:
    """The Parameter that replaces a value at a cut."""

    name: str
    element_type: ElementType
    shape: tuple[int, ...]


def with_results(model: Model, values: Sequence[ValueId]) -> Model:
    """Append a Result for each of these values, after the existing Results."""
    if not values:
        return model  # with what is known of its graph
    first = max(layer.id for layer in model.layers) + 1
    outputs = _output_ports(model)
    layers = [_result(first + i, f"captured_{first + i}", outputs[value]) for i, value in enumerate(values)]
    edges = [Edge(*value, first + i, 0) for i, value in enumerate(values)]
    return replace(model, layers=(*model.layers, *layers), edges=(*model.edges, *edges))


def part_of(model: Model, inputs: Mapping[ValueId, NewInput], outputs: Mapping[ValueId, str]) -> Model:
    """Extract the layers from `inputs` to `outputs` as a model: a -> b -> c -> d   becomes   Parameter -> b -> c -> Result.

    A static Parameter replaces each value of `inputs`, in their order; other Parameters of the model that are needed stay. The
    outputs get the names in `outputs`, beside the names that they have.
    """
    first = max(layer.id for layer in model.layers) + 1
    parameters = {value: _parameter(first + i, given) for i, (value, given) in enumerate(inputs.items())}
    needed = _needed(model, inputs, outputs)
    layers = [_with_names(layer, outputs) for layer in model.layers if layer.id in needed]
    edges = [edge for edge in model.edges if edge.to_layer in needed]
    ports = _output_ports(model)
    for result, (value, name) in enumerate(outputs.items(), first + len(parameters)):
        layers.append(_result(result, f"{name}/result", ports[value]))
        edges.append(Edge(*value, result, 0))
    moved = {value: (layer.id, 0) for value, layer in parameters.items()}
    edges = [_moved(edge, moved) for edge in edges]
    return replace(model, layers=(*parameters.values(), *layers), edges=tuple(edges))


def _needed(model: Model, inputs: Mapping[ValueId, NewInput], outputs: Iterable[ValueId]) -> set[int]:
    """Collect the ids of the layers between `inputs` and the outputs."""
    sources: dict[int, list[ValueId]] = {}
    for edge in model.edges:
        sources.setdefault(edge.to_layer, []).append((edge.from_layer, edge.from_port))
    layers = (layer for layer, _ in outputs)
    return set(reachable(layers, lambda layer: [source[0] for source in sources.get(layer, ()) if source not in inputs]))


def _parameter(layer_id: int, given: NewInput) -> Layer:
    attributes = {"shape": PartialShape.of(given.shape).attribute(), "element_type": given.element_type.name}
    port = Port(0, given.shape, given.element_type.precision, {"names": tensor_names(given.name)})
    return Layer(layer_id, given.name, "Parameter", "opset1", attributes, outputs=(port,))


def _result(layer_id: int, name: str, source: Port) -> Layer:
    return Layer(layer_id, name, "Result", "opset1", inputs=(replace(source, id=0, attributes={}),))


def _with_names(layer: Layer, outputs: Mapping[ValueId, str]) -> Layer:
    """Add the caller's tensor names to the layer's output ports."""
    ports = []
    for port in layer.outputs:
        name = outputs.get((layer.id, port.id))
        names = port.attributes.get("names", "")
        if name is not None and tensor_names(name) not in names.split(","):
            names = ",".join(filter(None, (tensor_names(name), names)))
            port = replace(port, attributes={**port.attributes, "names": names})
        ports.append(port)
    return replace(layer, outputs=tuple(ports))


def _moved(edge: Edge, moved: Mapping[ValueId, ValueId]) -> Edge:
    source = moved.get((edge.from_layer, edge.from_port))
    return edge if source is None else replace(edge, from_layer=source[0], from_port=source[1])


def _output_ports(model: Model) -> dict[ValueId, Port]:
    return {(layer.id, port.id): port for layer in model.layers for port in layer.outputs}
