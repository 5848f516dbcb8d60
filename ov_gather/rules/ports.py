"""1xx: the ports of a layer, and the names of layers and tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from ov_gather.ir.model import Layer, Model, Port, split_names
from ov_gather.ops import find_operation, known_types
from ov_gather.ops.contracts.call import BadCountError
from ov_gather.ops.contracts.judging import Judged
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.contracts import of_contract
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix, NumberPorts, SetAttribute
from ov_gather.rules.opset_table import PORTS


@rule("OVG104", Model | Judged)
def port_count(subject: Model | Judged) -> Iterator[Violation]:
    """A layer has too many or too few ports for its operation.

    The position of a port defines its role, e.g. data or indices, so the roles are ambiguous. Declare exactly the inputs and
    outputs of the operation. The rules about types and shapes skip such a layer.
    """
    return of_contract(subject, BadCountError) if isinstance(subject, Judged) else _miscounted(subject)


def _miscounted(graph: Model) -> Iterator[Violation]:
    for layer in graph.of_type(*PORTS, *known_types()):
        if layer.type in PORTS:
            name, (inputs, outputs) = layer.type, PORTS[layer.type]
        elif operation := find_operation(layer):
            name, inputs, outputs = operation.name, tuple(given.name for given in operation.inputs), operation.outputs
        else:
            continue  # OVG105 reports it
        for kind, ports, names in (("input", layer.inputs, inputs), ("output", layer.outputs, outputs)):
            if len(ports) != len(names):
                wanted = f"{len(names)}: {', '.join(names)}" if names else "none"
                hint = f"declare one {kind} port for each" if names else f"leave out the {kind} ports"
                yield Violation.at(layer, f"{len(ports)} {kind} ports; {name} has {wanted}", hint)


@rule("OVG114", Model, Severity.WARNING, unless=lambda graph: len({layer.name for layer in graph.layers}) == len(graph.layers))
def duplicate_layer_name(graph: Model) -> Iterator[Violation]:
    """Two layers of one graph have the same name.

    OpenVINO never writes such a model, and a search by name finds only one of the two layers. Give each layer of a graph its
    own name.
    """
    first: dict[str, Layer] = {}
    names = {layer.name for layer in graph.layers}
    interface = _interface(graph)
    for layer in graph.layers:
        taken = first.setdefault(layer.name, layer)
        if taken is not layer and layer.name:
            message = f"the name '{layer.name}' is already that of layer {taken.id} on line {taken.line}"
            fix = _name(names, layer, safe=id(layer) not in interface)
            yield Violation.at(layer, message, "give every layer of a graph a name of its own", fix=fix)


def _name(names: Collection[str], layer: Layer, *, safe: bool) -> Fix:
    """Return the fix that appends the id to the name, and underscores until the name is unique."""
    name = f"{layer.name}_{layer.id}"
    while name in names:
        name += "_"
    return Fix(SetAttribute("layer", "name", name), safe)


def _interface(graph: Model) -> set[int]:
    """Return the `id()` of each layer whose name applications may use for an input, output or state of the model."""
    if graph.tag != "net":
        return set()
    named = {id(layer) for layer in graph.layers if layer.type.lower() in ("parameter", "result", "assign", "readvalue")}
    return named | {id(source) for user, _, source, _ in graph.links if user.type.lower() == "result"}


def _has_different_tensor_names(graph: Model) -> bool:
    names = split_names(",".join(port.attributes["names"] for port in graph.output_ports if "names" in port.attributes))
    return len(names) == len(set(names))


@rule("OVG115", Model, Severity.WARNING, unless=_has_different_tensor_names)
def duplicate_tensor_name(graph: Model) -> Iterator[Violation]:
    """Two tensors of one graph have the same name.

    Applications address inputs and outputs by these names, and OpenVINO may choose either tensor. Give each tensor of a graph
    its own name.
    """
    first: dict[str, tuple[Layer, Port]] = {}
    for layer, port in graph.ports():
        for name in port.names:
            taken_by, taken = first.setdefault(name, (layer, port))
            if taken is not port:
                line = taken_by.line + taken.below
                message = f"the tensor name '{name}' is already that of output {taken.id} of {taken_by} on line {line}"
                yield Violation.at(layer, message, "give every tensor of a graph a name of its own", port=port)


@rule("OVG116", Model)
def duplicate_port_id(graph: Model) -> Iterator[Violation]:
    """Two inputs, or two outputs, of one layer have the same id.

    An edge refers to a port by its id, and OpenVINO connects it to the first of the two. Give each port its own id.
    """
    for layer, ports in _with_several(graph):
        if len({port.id for port in ports}) < len(ports):
            seen: set[int] = set()
            for port in ports:
                if port.id in seen:
                    message = f"a port before it has the id {port.id}, too"
                    yield Violation.at(layer, message, "give every port an id of its own", port=port)
                seen.add(port.id)


@rule("OVG117", Model, Severity.WARNING)
def order_of_ports(graph: Model) -> Iterator[Violation]:
    """The ids of the inputs, or of the outputs, of a layer are not in ascending order.

    OpenVINO assigns arguments by the order of the ports; ids only label them for edges. The ids suggest that another order was
    meant. Sort the ports by id, or number them in their present order.
    """
    advice = "OpenVINO goes by the order, not the ids: sort the ports by id, or number them as they stand"
    for layer, ports in _with_several(graph):
        for before, port in pairwise(ports):
            if port.id < before.id:
                message = f"port {port.id} stands after port {before.id}"
                yield Violation.at(layer, message, advice, port=port, fix=Fix(NumberPorts()))


def _with_several(graph: Model) -> Iterator[tuple[Layer, tuple[Port, ...]]]:
    """Yield each layer with its inputs, then with its outputs, if there are two or more."""
    for layer in graph.layers:
        if len(layer.inputs) > 1:
            yield layer, layer.inputs
        if len(layer.outputs) > 1:
            yield layer, layer.outputs
