"""1xx: layers, ports and edges."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.model import Edge, Layer, Model
from ov_gather.ops import FAMILY, find_operation, versions_of
from ov_gather.rules.base import Violation, graph_rule


@graph_rule("OVG101")
def duplicate_layer_id(graph: Model) -> Iterator[Violation]:
    """Two layers of one graph have the same id. OpenVINO silently drops the earlier one."""
    first: dict[int, Layer] = {}
    for layer in graph.layers:
        if layer.id in first:
            taken = first[layer.id]
            yield Violation(
                f"id {layer.id} is already that of {taken.type} '{taken.name}' on line {taken.line}",
                "give every layer of a graph an id of its own",
                layer.line,
                layer,
            )
        first.setdefault(layer.id, layer)


@graph_rule("OVG102")
def dangling_edge(graph: Model) -> Iterator[Violation]:
    """An edge starts or ends at a layer or a port that is not there. OpenVINO ignores an edge to an unknown layer."""
    outputs = {(layer.id, port.id) for layer in graph.layers for port in layer.outputs}
    inputs = {(layer.id, port.id) for layer in graph.layers for port in layer.inputs}
    for edge in graph.edges:
        for kind, known, layer_id, port_id in (
            ("output", outputs, edge.from_layer, edge.from_port),
            ("input", inputs, edge.to_layer, edge.to_port),
        ):
            if (layer_id, port_id) not in known:
                layer = graph.layer_by_id.get(layer_id)
                there = "has no such port" if layer else "does not exist"
                yield Violation(
                    f"{_text(edge)} refers to {kind} port {port_id} of layer {layer_id}, which {there}",
                    "make the edge refer to a port that the layer declares",
                    edge.line,
                    layer,
                )


@graph_rule("OVG103")
def edges_into_port(graph: Model) -> Iterator[Violation]:
    """An input port has no edge, or more than one. Each input has exactly one producer."""
    if graph.is_fragment:
        return
    for layer in graph.layers:
        for port in layer.inputs:
            count = len(graph.edges_into(layer, port))
            if count != 1:
                hint = "connect it to an output" if count == 0 else "leave one edge"
                yield Violation(f"input port {port.id} has {count or 'no'} edges", hint, port.line, layer, port.id)


@graph_rule("OVG104")
def port_count(graph: Model) -> Iterator[Violation]:
    """A gather-family layer does not have the inputs and outputs of its operation."""
    for layer in graph.layers:
        operation = find_operation(layer)
        if operation is None:
            continue
        for kind, ports, names in (
            ("input", layer.inputs, [given.name for given in operation.inputs]),
            ("output", layer.outputs, list(operation.outputs)),
        ):
            if len(ports) != len(names):
                yield Violation(
                    f"{len(ports)} {kind} ports; {operation.name} has {len(names)}: {', '.join(names)}",
                    f"declare one {kind} port for each",
                    layer.line,
                    layer,
                )


@graph_rule("OVG105")
def version_without_operation(graph: Model) -> Iterator[Violation]:
    """The opset that a gather-family layer names does not hold its operation."""
    for layer in graph.layers:
        if layer.type in FAMILY and find_operation(layer) is None:
            known = ", ".join(f"{it.found_in} ({it.name})" for it in versions_of(layer.type))
            yield Violation(
                f"version='{layer.version}' does not hold {layer.type}",
                f"{layer.type} is found in {known}",
                layer.line,
                layer,
            )


def _text(edge: Edge) -> str:
    return f"the edge {edge.from_layer}:{edge.from_port} -> {edge.to_layer}:{edge.to_port}"
