"""1xx: the ports of a layer, and the names of layers and tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ov_gather.findings import Severity
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ops import find_operation
from ov_gather.rules.base import Violation, graph_rule

# What these types have whatever their opset: inputs, outputs.
_PORTS = {"Parameter": ((), ("the value",)), "Const": ((), ("the value",)), "Result": (("the value",), ())}


@graph_rule("OVG104")
def port_count(graph: Model) -> Iterator[Violation]:
    """A Parameter, a Const, a Result or a gather-family layer does not have the inputs and outputs of its operation."""
    for layer in graph.layers:
        if layer.type in _PORTS:
            name, (inputs, outputs) = layer.type, _PORTS[layer.type]
        elif operation := find_operation(layer):
            name, inputs, outputs = operation.name, tuple(given.name for given in operation.inputs), operation.outputs
        else:
            continue
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
    first: dict[str, tuple[Layer, Port]] = {}
    for layer, port in _outputs_with_names(graph):
        for name in tensor_names(port.attributes["names"]):
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
    for layer in graph.layers:
        for ports in (layer.inputs, layer.outputs):
            if len(ports) < 2 or len({port.id for port in ports}) == len(ports):
                continue
            seen: set[int] = set()
            for port in ports:
                if port.id in seen:
                    yield Violation(
                        f"a port before it has the id {port.id}, too", "number the ports", port.line, layer, port.id
                    )
                seen.add(port.id)


@graph_rule("OVG117", Severity.WARNING)
def order_of_ports(graph: Model) -> Iterator[Violation]:
    """The ids of the ports of a layer do not rise. The order of the ports tells which is which argument; ids are but labels."""
    for layer in graph.layers:
        for ports in (layer.inputs, layer.outputs):
            if len(ports) < 2:
                continue
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


def _outputs_with_names(graph: Model) -> Iterator[tuple[Layer, Port]]:
    return ((layer, port) for layer in graph.layers for port in layer.outputs if "names" in port.attributes)
