"""407: declared outputs compared with those that OpenVINO infers. Runs on request only, because it needs openvino."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ov_gather.extension import reason
from ov_gather.extension.users import UserExtension, core_for_reading
from ov_gather.ir.element_types import by_name
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.urls import is_url
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.shapes import dims_text, fits_declaration

_BODY = {"then_body": "get_then_body", "else_body": "get_else_body", "body": "get_function"}


@dataclass(frozen=True, slots=True)
class Inferred:
    """One graph, and the openvino nodes of its layers, by name.

    `types_kept` is False for IR version 10, since OpenVINO changes types when it reads those. `refusal` is the reason if
    OpenVINO does not read the model; there are no nodes then.
    """

    graph: Model
    nodes: Mapping[str, Any]
    types_kept: bool = True
    refusal: str = ""


def inferred_graphs(model: Model, extensions: tuple[UserExtension, ...] = ()) -> Iterator[tuple[tuple[str, ...], Inferred]]:
    """Yield the graphs of a document, each with its sub-graph path and OpenVINO's nodes. Raises ImportError."""
    from ov_gather.ir.writer import to_bytes

    core = core_for_reading(extensions)  # without a compiler for ours, a model with our operations is refused
    core.set_property({"ENABLE_MMAP": False})  # reading a mapping of a truncated file kills the process (SIGBUS)
    try:
        if model.path and not is_url(model.path):
            read = core.read_model(model.path)
        else:
            xml, binary = to_bytes(model)
            read = core.read_model(model=xml, weights=binary)
    except RuntimeError as error:
        yield (), Inferred(model, {}, refusal=reason(error))
        return
    yield from _walk(model, read, (), model.version > 10)


def _walk(
    graph: Model, read: Any, subgraph_path: tuple[str, ...], types_kept: bool
) -> Iterator[tuple[tuple[str, ...], Inferred]]:
    # Names identify nodes only if they are unique; OVG114 reports the others.
    unique = {name for name, count in Counter(layer.name for layer in graph.layers).items() if count == 1}
    nodes = {node.get_friendly_name(): node for node in read.get_ops() if node.get_friendly_name() in unique}
    yield subgraph_path, Inferred(graph, nodes, types_kept)
    for layer in graph.layers:
        for body in layer.bodies if layer.name in nodes else ():
            inner = getattr(nodes[layer.name], _BODY[body.tag])()
            yield from _walk(body, inner, (*subgraph_path, f"{layer.type} '{layer.name}'", body.tag), types_kept)


@rule("OVG407", Inferred)
def drift(inferred: Inferred) -> Iterator[Violation]:
    """An output port of any layer declares another type or shape than OpenVINO infers, or OpenVINO refuses the model.

    OpenVINO ignores declared outputs, but other tools trust them. Declare what the operation produces. This rule needs
    openvino, and runs only with --infer.
    """
    if inferred.refusal:
        yield Violation.at(inferred.graph, f"OpenVINO refuses the model: {inferred.refusal}", "")
    for layer in inferred.graph.layers:
        node = inferred.nodes.get(layer.name)
        if node is None or len(layer.outputs) != node.get_output_size():
            continue
        for i, port in enumerate(layer.outputs):
            element_type = by_name(node.get_output_element_type(i).get_type_name())
            shape = PartialShape.parse(str(node.get_output_partial_shape(i)).strip("[]"))
            other_type = inferred.types_kept and port.element_type not in (None, element_type)
            if other_type or not fits_declaration(port, shape):
                message = f"declares {port.precision} of {dims_text(port)}, but OpenVINO infers {element_type} of {shape}"
                yield Violation.at(layer, message, "declare what the operation gives, or correct its inputs", port=port)
