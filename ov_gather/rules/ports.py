"""1xx: the ports of a layer, and the names of layers and tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ops import FAMILY, find_operation
from ov_gather.rules.base import Violation, graph_rule
from ov_gather.rules.findings import Severity

# What these types have whatever their opset: inputs, outputs.
_PORTS = {
    "Parameter": ((), ("the value",)),
    "Const": ((), ("the value",)),
    "Result": (("the value",), ()),
    "Assign": (("the value",), ("the value",)),
}


@graph_rule("OVG104")
def port_count(graph: Model) -> Iterator[Violation]:
    """A Parameter, Const, Result, Assign or gather-family layer does not have the inputs and outputs of its operation."""
    for layer in graph.of_type(*_PORTS, *FAMILY):
        if layer.type in _PORTS:
            name, (inputs, outputs) = layer.type, _PORTS[layer.type]
        elif operation := find_operation(layer):
            name, inputs, outputs = operation.name, tuple(given.name for given in operation.inputs), operation.outputs
        else:
            continue  # OVG105
        for kind, ports, names in (("input", layer.inputs, inputs), ("output", layer.outputs, outputs)):
            if len(ports) != len(names):
                yield Violation(
                    f"{len(ports)} {kind} ports; {name} has {len(names) or 'none'}{': ' if names else ''}{', '.join(names)}",
                    f"declare one {kind} port for each" if names else f"leave out the {kind} ports",
                    layer.line,
                    layer,
                )


@graph_rule("OVG114", Severity.WARNING)
def duplicate_layer_name(graph: Model) -> Iterator[Violation]:
    """Two layers of one graph have the same name. OpenVINO writes no such model; a search by name finds only one."""
    if len({layer.name for layer in graph.layers}) == len(graph.layers):
        return
    first: dict[str, Layer] = {}
    for layer in graph.layers:
        taken = first.setdefault(layer.name, layer)
        if taken is not layer and layer.name:
            yield Violation(
                f"the name '{layer.name}' is already that of layer {taken.id} on line {taken.line}",
                "give every layer of a graph a name of its own",
                layer.line,
                layer,
            )


@graph_rule("OVG115", Severity.WARNING)
def duplicate_tensor_name(graph: Model) -> Iterator[Violation]:
    """Two tensors of one graph have the same name. OpenVINO finds tensors by their names, and takes either."""
    names = tensor_names(",".join(port.attributes["names"] for port in graph.output_ports if "names" in port.attributes))
    if len(names) == len(set(names)):
        return
    first: dict[str, tuple[Layer, Port]] = {}
    for layer, port in graph.ports():
        for name in tensor_names(port.attributes.get("names", "")):
            taken_by, taken = first.setdefault(name, (layer, port))
            if taken is not port:
                yield Violation(
                    f"the tensor name '{name}' is already that of output {taken.id} of {taken_by} on line {taken.line}",
                    "give every tensor of a graph a name of its own",
                    port.line,
                    layer,
                    port.id,
                )


@graph_rule("OVG116")
def duplicate_port_id(graph: Model) -> Iterator[Violation]:
    """Two inputs, or two outputs, of a layer have the same id. OpenVINO takes the first for both."""
    for layer, ports in _with_several(graph):
        if len({port.id for port in ports}) < len(ports):
            seen: set[int] = set()
            for port in ports:
                if port.id in seen:
                    text = f"a port before it has the id {port.id}, too"
                    yield Violation(text, "give every port an id of its own", port.line, layer, port.id)
                seen.add(port.id)


@graph_rule("OVG117", Severity.WARNING)
def order_of_ports(graph: Model) -> Iterator[Violation]:
    """The ids of the ports of a layer do not rise. The order of the ports tells which is which argument; ids are but labels."""
    for layer, ports in _with_several(graph):
        for before, port in pairwise(ports):
            if port.id < before.id:
                yield Violation(
                    f"port {port.id} stands after port {before.id}",
                    "OpenVINO goes by the order, not the ids: sort the ports by id, or number them as they stand",
                    port.line,
                    layer,
                    port.id,
                )


def tensor_names(text: str) -> list[str]:
    r"""What `names` and `output_names` list: names separated by commas; one within a name is written \\, ."""
    if "\\," not in text:
        return text.split(",") if text else []
    return [name.replace("\0", ",") for name in text.replace("\\,", "\0").split(",")]


def _with_several(graph: Model) -> Iterator[tuple[Layer, tuple[Port, ...]]]:
    """The inputs and the outputs of each layer, where there are two or more."""
    for layer in graph.layers:
        if len(layer.inputs) > 1:
            yield layer, layer.inputs
        if len(layer.outputs) > 1:
            yield layer, layer.outputs
