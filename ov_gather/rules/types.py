"""3xx: element types."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.element_types import DYNAMIC, by_name, by_precision
from ov_gather.ir.model import Layer, Model
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import TypeRuleError
from ov_gather.rules.base import Violation, graph_rule, layer_rule
from ov_gather.rules.opsets import attribute_kinds

# The element_type of the former two has a rule of its own; the others name types that they compute with.
_TYPE_OF_NO_OUTPUT = ("Parameter", "Const", "FakeConvert", "ConvertPromoteTypes")


@graph_rule("OVG301")
def unknown_precision(graph: Model) -> Iterator[Violation]:
    """The precision of a port is not one that OpenVINO knows, or an output port has none. Only a fragment may leave it out."""
    inputs = {port.precision for port in graph.input_ports}
    outputs = {port.precision for port in graph.output_ports}
    unknown = {name for name in inputs | outputs if name is not None and by_precision(name) is None}
    if not unknown and (None not in outputs or graph.is_fragment):
        return
    hint = "write one such as FP32, FP16, I64, I32, BOOL"
    for layer, port in graph.ports():
        if port.precision in unknown:
            yield Violation(f"unknown precision '{port.precision}'", hint, port.line, layer, port.id)
    for layer in () if graph.is_fragment else graph.layers:
        for port in layer.outputs:
            if port.precision is None:
                yield Violation("no precision", hint, port.line, layer, port.id)


@graph_rule("OVG302")
def edge_precision(graph: Model) -> Iterator[Violation]:
    """An input port declares another precision than the output port that feeds it. OpenVINO does not look at the former."""
    for layer, port, source, output in graph.links:
        if port.precision != output.precision and None is not port.element_type != output.element_type is not None:
            yield Violation(
                f"declares {port.precision}, but its producer, {source}, gives {output.precision}",
                f"declare {output.precision}",
                port.line,
                layer,
                port.id,
            )


@graph_rule("OVG306")
def attribute_and_output_type(graph: Model) -> Iterator[Violation]:
    """An attribute that tells the element type of an output, e.g. destination_type of Convert, is not what a port declares."""
    for layers in graph.kinds.values():
        names = [name for name, kind in (attribute_kinds(layers[0]) or {}).items() if kind == "type"]
        if not names or layers[0].type in _TYPE_OF_NO_OUTPUT:
            continue
        for layer, name in ((layer, name) for layer in layers for name in names):
            told = by_name(layer.attributes.get(name, "dynamic"))
            if told in (None, DYNAMIC) or any(port.element_type in (None, told) for port in layer.outputs):
                continue
            if not _decompresses(layer):
                yield Violation(
                    f"{name} is {told}, which no output declares",
                    f"declare it on an output, or correct {name}",
                    layer.data_line,
                    layer,
                )


@layer_rule("OVG303")
def input_type(view: LayerView) -> Iterator[Violation]:
    """An input has an element type that the operation does not take, e.g. indices that are not i32 or i64."""
    for given, actual, port in zip(view.operation.inputs, view.input_types, view.layer.inputs, strict=True):
        if given.element_types and actual not in (None, DYNAMIC, *given.element_types):
            allowed = " or ".join(map(str, given.element_types))
            yield Violation(
                f"{given.name} has element type {actual}",
                f"{view.operation.name} takes {allowed} here",
                port.line,
                view.layer,
                port.id,
            )


@layer_rule("OVG308")
def input_types_together(view: LayerView) -> Iterator[Violation]:
    """Inputs that must have the same element type do not, e.g. data and updates. OpenVINO refuses the model."""
    try:
        view.operation.infer_types(view.input_types)
    except TypeRuleError as error:
        port = view.layer.inputs[error.port]
        yield Violation(error.reason, error.hint, port.line, view.layer, port.id)


@layer_rule("OVG304")
def output_type(view: LayerView) -> Iterator[Violation]:
    """An output port declares another precision than the operation gives. OpenVINO silently infers its own."""
    try:
        types = view.operation.infer_types(view.input_types)
    except TypeRuleError:  # OVG308 says it
        return
    for inferred, port in zip(types, view.layer.outputs, strict=True):
        if inferred not in (None, DYNAMIC) and port.element_type not in (None, inferred):
            assert inferred is not None
            yield Violation(
                f"declares {port.precision}, but {view.operation.name} gives {inferred.precision} for these inputs",
                f"declare {inferred.precision}",
                port.line,
                view.layer,
                port.id,
            )


@graph_rule("OVG305")
def declared_element_type(graph: Model) -> Iterator[Violation]:
    """The element_type of a Parameter or Const is unknown, or not what its output port declares."""
    for layer in graph.of_type("Parameter", "Const"):
        text, declared = layer.attributes.get("element_type", ""), layer.declared_type
        if declared is None:
            yield Violation(
                f"unknown element_type '{text}'",
                "write one such as f32, f16, i64, i32, boolean",
                layer.data_line,
                layer,
            )
            continue
        for port in layer.outputs:
            if port.element_type not in (None, declared):
                yield Violation(
                    f"declares {port.precision}, but element_type is {declared}",
                    f"declare {declared.precision}, or correct element_type",
                    port.line,
                    layer,
                    port.id,
                )


def _decompresses(layer: Layer) -> bool:
    """A Convert that save_model put behind a compressed Const.

    Where nothing infers its type anew, OpenVINO writes the precision of the Const on its output.
    """
    marks = (mark.attributes.get("name") for section in layer.sections for mark in section.children)
    return layer.type == "Convert" and "decompression" in marks
