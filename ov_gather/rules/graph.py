"""1xx: layers and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ov_gather.ir.model import Edge, Layer, Model, Port
from ov_gather.ir.shapes import listed
from ov_gather.ir.states import STATES
from ov_gather.ops.table import OPENVINO, Trait, where
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.system.traversal import breadth_first

SINKS = where(OPENVINO, lambda op: Trait.SINK in op.traits)


@rule("OVG101", Model, unless=lambda graph: len(graph.layer_by_id) == len(graph.layers))
def duplicate_layer_id(graph: Model) -> Iterator[Violation]:
    """Two layers of one graph have the same id.

    OpenVINO silently drops the earlier layer and connects every edge to the later one. Give each layer of a graph its own id.
    """
    first: dict[int, Layer] = {}
    for layer in graph.layers:
        taken = first.setdefault(layer.id, layer)
        if taken is not layer:
            message = f"id {layer.id} is already that of {taken} on line {taken.line}"
            yield Violation.at(layer, message, "give every layer of a graph an id of its own")


@rule("OVG102", Model, unless=lambda graph: len(graph.links) == len(graph.edges))
def dangling_edge(graph: Model) -> Iterator[Violation]:
    """An edge refers to a layer or a port that does not exist.

    OpenVINO ignores an edge to an unknown layer, so the connection is missing. Make each edge lead from a declared output port
    to a declared input port.
    """
    outputs = {(layer.id, port.id) for layer in graph.layers for port in layer.outputs}
    inputs = {(layer.id, port.id) for layer in graph.layers for port in layer.inputs}
    for edge in graph.edges:
        if (edge.from_layer, edge.from_port) not in outputs:
            yield _dangling(graph, edge, "output", edge.from_layer, edge.from_port)
        if (edge.to_layer, edge.to_port) not in inputs:
            yield _dangling(graph, edge, "input", edge.to_layer, edge.to_port)


def _dangling(graph: Model, edge: Edge, kind: str, layer_id: int, port_id: int) -> Violation:
    layer = graph.layer_by_id.get(layer_id)
    there = "has no such port" if layer else "does not exist"
    text = f"the edge {edge.from_layer}:{edge.from_port} -> {edge.to_layer}:{edge.to_port}"
    message = f"{text} refers to {kind} port {port_id} of layer {layer_id}, which {there}"
    return Violation.at(layer or graph, message, "make the edge refer to a port that the layer declares", line=edge.line)


@rule("OVG103", Model, unless=lambda graph: graph.is_fragment or len(graph.links) == len(graph.input_ports))
def edges_into_port(graph: Model) -> Iterator[Violation]:
    """An input port has no edge, or more than one.

    Each input must get its value from exactly one output. Let exactly one edge end at each input port.
    """
    counts = Counter((edge.to_layer, edge.to_port) for edge in graph.edges)
    for layer in graph.layers:
        for port in layer.inputs:
            count = counts[layer.id, port.id]
            if count != 1:
                hint = "connect it to an output" if count == 0 else "leave one edge"
                yield Violation.at(layer, f"input port {port.id} has {count or 'no'} edges", hint, port=port)


def is_in_order_of_execution(graph: Model) -> bool:
    """Return True if every layer comes after its producers, as OpenVINO writes them."""
    position = {layer.id: i for i, layer in enumerate(graph.layers)}
    return all(position.get(edge.from_layer, -1) < position.get(edge.to_layer, 0) for edge in graph.edges)


@rule("OVG111", Model, unless=is_in_order_of_execution)
def cycle(graph: Model) -> Iterator[Violation]:
    """Layers form a cycle, or a layer feeds itself.

    There is no order in which to execute them, and OpenVINO refuses the model. Remove an edge of the cycle.
    """
    sources: dict[int, set[int]] = {layer.id: set() for layer in graph.layers}
    for edge in graph.edges:
        if edge.from_layer in sources and edge.to_layer in sources:
            sources[edge.to_layer].add(edge.from_layer)
    if unfinished := sources.keys() - breadth_first(sources):
        # Walking back from any unfinished layer through unfinished producers ends in a circle.
        path: dict[int, None] = {}
        current = min(unfinished)
        while current not in path:
            path[current] = None
            current = min(sources[current] & unfinished)
        circle = list(path)[list(path).index(current) :][::-1]
        start = graph.layer_by_id[min(circle)]
        shown = " -> ".join(map(str, [*circle[:8], *(["..."] if len(circle) > 8 else [circle[0]])]))
        yield Violation.at(start, f"layers feed each other in a circle: {shown}", "remove one of its edges")


@rule("OVG112", Model, Severity.WARNING, unless=lambda graph: graph.is_fragment)
def dead_end(graph: Model) -> Iterator[Violation]:
    """No layer reads the outputs of a layer other than Parameter, Result and Assign.

    OpenVINO drops such a layer without checking it. Perhaps an edge is missing. Connect the layer, or remove it.
    """
    read = {edge.from_layer for edge in graph.edges}
    for layer in graph.layers:
        if layer.id not in read and layer.type not in SINKS and layer.type != "Parameter":
            yield Violation.at(layer, "nothing reads its outputs", "connect them, or remove the layer")


@rule("OVG113", Model)
def no_result(graph: Model) -> Iterator[Violation]:
    """The model has neither a Result nor an Assign.

    OpenVINO keeps only the layers that a Result or an Assign needs, so it reads a model that computes nothing. Add a Result for
    each output of the model.
    """
    if graph.tag == "net" and not graph.of_type(*SINKS):
        yield Violation.at(graph, "the model has no Result", "add a Result for each output of the model")


@rule("OVG118", Model, unless=lambda graph: not graph.of_type(*STATES))
def paired_states(graph: Model) -> Iterator[Violation]:
    """A variable is not read by one ReadValue and written by one Assign, or what is written does not fit it.

    OpenVINO refuses the model, and dies if a layer reads an output of Assign. Give each variable one ReadValue and one Assign
    in the same graph, of the same type and shape; read the state from the ReadValue.
    """
    reads, writes = (_by_variable(graph, kind) for kind in STATES)
    for variable, layers in (*reads.items(), *writes.items()):
        for layer in layers[1:]:
            message = f"the variable_id '{variable}' is already that of {layers[0]} on line {layers[0].line}"
            yield Violation.at(layer, message, f"leave one {layer.type} of a variable", line=layer.data_line)
    for variable, (layer, *_) in writes.items():
        if variable not in reads:
            known = ", ".join(sorted(reads)) or "none"
            message = f"no ReadValue has the variable_id '{variable}'"
            yield Violation.at(layer, message, f"the variables that are read: {known}", line=layer.data_line)
        elif layer.inputs and reads[variable][0].outputs:
            yield from _unfit(layer, layer.inputs[0], reads[variable][0].outputs[0])
    for variable, (layer, *_) in reads.items():
        if variable not in writes:
            message = f"no Assign has the variable_id '{variable}'"
            yield Violation.at(layer, message, "add an Assign, or read the initial value itself", line=layer.data_line)
    for reader, port, source, _ in graph.links:
        if source.type == STATES[1]:
            yield Violation.at(reader, f"reads an output of {source}", "read what the Assign is given", port=port)


def _by_variable(graph: Model, kind: str) -> dict[str, list[Layer]]:
    found: dict[str, list[Layer]] = {}
    for layer in graph.of_type(kind):
        found.setdefault(layer.attributes.get("variable_id", ""), []).append(layer)
    return found


def _unfit(layer: Layer, written: Port, read: Port) -> Iterator[Violation]:
    """Yield how what an Assign is given does not fit what the ReadValue of its variable returns."""
    hint = "write what the variable_type and variable_shape of the ReadValue allow"
    if None not in (written.element_type, read.element_type) and written.element_type is not read.element_type:
        yield Violation.at(layer, f"writes {written.precision} to a variable of {read.precision}", hint, port=written)
    if written.dims and read.dims and written.shape.intersect(read.shape) is None:
        text = f"writes dims {listed(written.dims)} to a variable of dims {listed(read.dims)}"
        yield Violation.at(layer, text, hint, port=written)
