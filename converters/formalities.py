"""Formal faults of ONNX models that ONNX's checker refuses, although ONNX Runtime or OpenVINO read the model as it is meant.

Old exporters and hand-written models have them: a graph without a name, a domain that is not imported, nodes that are not in
order. Each has one reading, so the model is corrected before it is checked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter

import onnx

_CONSTANTS_APART = 4
"""First version of ONNX's IR in which an initializer need not be an input, too."""
_DEFAULT_DOMAINS = ("", "ai.onnx")


def correct(model: onnx.ModelProto) -> None:
    """Correct the formal faults of a model in place, bodies included; other faults are left for the checker."""
    graphs = list(_graphs(model.graph))
    model.ir_version = model.ir_version or _CONSTANTS_APART
    if {tensor.name for tensor in model.graph.initializer} - {value.name for value in model.graph.input}:
        model.ir_version = max(model.ir_version, _CONSTANTS_APART)
    for graph in graphs:
        graph.name = graph.name or "graph"
        _sort(graph)
    _import_domains(model, graphs)
    _import_operators(model, graphs)
    for graph in graphs:
        _name_regions(graph)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for body in _bodies(node):
            yield from _graphs(body)


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def _sort(graph: onnx.GraphProto) -> None:
    """Order nodes so that each follows those that it reads; nodes in a cycle stay, for the checker to refuse."""
    producers = {name: position for position, node in enumerate(graph.node) for name in node.output if name}
    read = [{producers[name] for name in _read_by(node) if name in producers} for node in graph.node]
    if all(before < position for position, all_before in enumerate(read) for before in all_before):
        return
    try:
        order = list(TopologicalSorter(dict(enumerate(read))).static_order())
    except CycleError:
        return
    nodes = [graph.node[position] for position in order]
    graph.ClearField("node")
    graph.node.extend(nodes)


def _read_by(node: onnx.NodeProto) -> Iterator[str]:
    """Yield the names that a node reads, and those that its bodies read of the graphs around them."""
    yield from node.input
    for body in _bodies(node):
        own = {value.name for value in (*body.input, *body.initializer)}
        own.update(name for inner in body.node for name in inner.output)
        read = {value.name for value in body.output}.union(*map(_read_by, body.node))
        yield from read - own


def _import_domains(model: onnx.ModelProto, graphs: Sequence[onnx.GraphProto]) -> None:
    """Import version 1 of each domain that has nodes and is not imported, as ONNX Runtime and OpenVINO assume."""
    imported = {entry.domain for entry in model.opset_import}
    for domain in sorted({node.domain for graph in graphs for node in graph.node} - imported - set(_DEFAULT_DOMAINS)):
        model.opset_import.add(domain=domain, version=1)


def _import_operators(model: onnx.ModelProto, graphs: Sequence[onnx.GraphProto]) -> None:
    """Raise the version of ONNX's operators to the first that has all of the model's, if it changes none of the others."""
    used = {node.op_type for graph in graphs for node in graph.node if node.domain in _DEFAULT_DOMAINS}
    for entry in model.opset_import:
        missing = [name for name in used if _since(name, entry.version) is None]
        if entry.domain not in _DEFAULT_DOMAINS or not missing or not all(name in _first_versions() for name in missing):
            continue
        version = max(_first_versions()[name] for name in missing)
        if all(_since(name, version) == _since(name, entry.version) for name in used.difference(missing)):
            entry.version = version


def _since(op_type: str, version: int) -> int | None:
    """Return the version in which the operator of this opset came; None if the opset has no such operator."""
    try:
        since: int = onnx.defs.get_schema(op_type, version).since_version
    except onnx.defs.SchemaError:
        return None
    return since


@cache
def _first_versions() -> Mapping[str, int]:
    """Return the opset in which each operator of ONNX came first."""
    found: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain:
            found[schema.name] = min(schema.since_version, found.get(schema.name, schema.since_version))
    return found


def _name_regions(graph: onnx.GraphProto) -> None:
    """Resize (x, "", scales)  ->  Resize (x, nothing, scales): inputs that opset 11 requires, and later ones leave out."""
    for node in graph.node:
        if node.op_type != "Resize" or "" not in node.input:
            continue
        nothing = onnx.TensorProto(name=f"{node.output[0]}_nothing", data_type=onnx.TensorProto.FLOAT, dims=[0])
        graph.initializer.append(nothing)
        for position, name in enumerate(node.input):
            node.input[position] = name or nothing.name
