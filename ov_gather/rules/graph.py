"""1xx: layers and edges."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.model import Edge, Layer, Model
from ov_gather.rules.base import Violation, graph_rule
from ov_gather.rules.findings import Severity

# What OpenVINO's reader starts from: it creates what these need, and the Parameters.
SINKS = ("Result", "Assign")


@graph_rule("OVG101")
def duplicate_layer_id(graph: Model) -> Iterator[Violation]:
    """Two layers of one graph have the same id. OpenVINO silently drops the earlier one."""
    if len(graph.layer_by_id) == len(graph.layers):
        return
    first: dict[int, Layer] = {}
    for layer in graph.layers:
        if layer.id in first:
            taken = first[layer.id]
            yield Violation(
                f"id {layer.id} is already that of {taken} on line {taken.line}",
                "give every layer of a graph an id of its own",
                layer.line,
                layer,
            )
        first.setdefault(layer.id, layer)


@graph_rule("OVG102")
def dangling_edge(graph: Model) -> Iterator[Violation]:
    """An edge starts or ends at a layer or a port that is not there. OpenVINO ignores an edge to an unknown layer."""
    if len(graph.links) == len(graph.edges):
        return  # each of them is a link
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
    return Violation(
        f"{text} refers to {kind} port {port_id} of layer {layer_id}, which {there}",
        "make the edge refer to a port that the layer declares",
        edge.line,
        layer,
    )


@graph_rule("OVG103")
def edges_into_port(graph: Model) -> Iterator[Violation]:
    """An input port has no edge, or more than one. Each input has exactly one producer."""
    if graph.is_fragment or len(graph.links) == len(graph.input_ports):
        return
    for layer in graph.layers:
        for port in layer.inputs:
            count = len(graph.edges_into(layer, port))
            if count != 1:
                hint = "connect it to an output" if count == 0 else "leave one edge"
                yield Violation(f"input port {port.id} has {count or 'no'} edges", hint, port.line, layer, port.id)


@graph_rule("OVG111")
def cycle(graph: Model) -> Iterator[Violation]:
    """Layers feed each other in a circle, or one feeds itself. No order to execute them exists; OpenVINO refuses the model."""
    position = {layer.id: i for i, layer in enumerate(graph.layers)}
    if all(position.get(edge.from_layer, -1) < position.get(edge.to_layer, 0) for edge in graph.edges):
        return  # they stand in an order of execution, as OpenVINO writes them
    waiting_for = {layer_id: set[int]() for layer_id in position}
    followers: dict[int, list[int]] = {layer_id: [] for layer_id in position}
    for edge in graph.edges:
        if edge.from_layer in position and edge.to_layer in position:
            waiting_for[edge.to_layer].add(edge.from_layer)
            followers[edge.from_layer].append(edge.to_layer)
    ready = [layer_id for layer_id, sources in waiting_for.items() if not sources]
    while ready:
        done = ready.pop()
        del waiting_for[done]
        for follower in set(followers[done]):
            waiting_for[follower].discard(done)
            if not waiting_for[follower]:
                ready.append(follower)
    if waiting_for:
        # From any layer that waits, back through what it waits for, the walk ends up in a circle.
        path: dict[int, None] = {}
        current = min(waiting_for)
        while current not in path:
            path[current] = None
            current = min(waiting_for[current])
        circle = list(path)[list(path).index(current) :][::-1]
        start = graph.layer_by_id[min(circle)]
        shown = " -> ".join(map(str, [*circle[:8], *(["..."] if len(circle) > 8 else [circle[0]])]))
        yield Violation(f"layers feed each other in a circle: {shown}", "remove one of its edges", start.line, start)


@graph_rule("OVG112", Severity.WARNING)
def dead_end(graph: Model) -> Iterator[Violation]:
    """Nothing reads the outputs of a layer that is neither a Parameter nor a Result. OpenVINO drops it unchecked."""
    if graph.is_fragment:
        return
    read = {edge.from_layer for edge in graph.edges}
    for layer in graph.layers:
        if layer.id not in read and layer.type not in SINKS and layer.type != "Parameter":
            yield Violation("nothing reads its outputs", "connect them, or remove the layer", layer.line, layer)


@graph_rule("OVG113")
def no_result(graph: Model) -> Iterator[Violation]:
    """The model has neither a Result nor an Assign. OpenVINO reads it as a model that computes nothing."""
    if graph.tag == "net" and not graph.of_type(*SINKS):
        yield Violation("the model has no Result", "add a Result for each output of the model", graph.line)


@graph_rule("OVG118")
def unpaired_assign(graph: Model) -> Iterator[Violation]:
    """An Assign writes a variable that no ReadValue of its graph reads. OpenVINO refuses the model."""
    variables = {layer.attributes.get("variable_id") for layer in graph.of_type("ReadValue")}
    for layer in graph.of_type("Assign"):
        variable = layer.attributes.get("variable_id")
        if variable not in variables:
            yield Violation(
                f"no ReadValue has the variable_id '{variable}'",
                f"the variables that are read: {', '.join(sorted(map(str, variables))) or 'none'}",
                layer.data_line,
                layer,
            )
