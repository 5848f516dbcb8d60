"""3xx: element types."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.element_types import DYNAMIC
from ov_gather.ir.model import Model
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, graph_rule, layer_rule


@graph_rule("OVG301")
def unknown_precision(graph: Model) -> Iterator[Violation]:
    """The precision of a port is not one that OpenVINO knows, or an output port has none. Only a fragment may leave it out."""
    for layer in graph.layers:
        outputs_from = len(layer.inputs)
        for position, port in enumerate((*layer.inputs, *layer.outputs)):
            missing = port.precision is None and position >= outputs_from and not graph.is_fragment
            if missing or (port.precision is not None and port.element_type is None):
                text = "no precision" if missing else f"unknown precision '{port.precision}'"
                yield Violation(text, "write one such as FP32, FP16, I64, I32, BOOL", port.line, layer, port.id)


@graph_rule("OVG302")
def edge_precision(graph: Model) -> Iterator[Violation]:
    """An input port declares another precision than the output port that feeds it. OpenVINO does not look at the former."""
    for layer in graph.layers:
        for port in layer.inputs:
            source = graph.producer(layer, port)
            if source and port.element_type and source[1].element_type and port.element_type != source[1].element_type:
                yield Violation(
                    f"declares {port.precision}, but its producer, {source[0]}, gives {source[1].precision}",
                    f"declare {source[1].precision}",
                    port.line,
                    layer,
                    port.id,
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


@layer_rule("OVG304")
def output_type(view: LayerView) -> Iterator[Violation]:
    """An output port declares another precision than the operation gives. OpenVINO silently infers its own."""
    for inferred, port in zip(view.operation.infer_types(view.input_types), view.layer.outputs, strict=True):
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
    for layer in graph.layers:
        if layer.type not in ("Parameter", "Const"):
            continue
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
