"""3xx: element types."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.graph.ir import decompresses
from ov_gather.ir.constants import has_other_size
from ov_gather.ir.element_types import DYNAMIC, ElementType, by_name, by_precision
from ov_gather.ir.model import Model, Port
from ov_gather.ops.contracts.call import BadTypeError
from ov_gather.ops.contracts.judging import Judge, Judged
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import TypeRuleError
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.contracts import of_contract
from ov_gather.rules.fixes import Fix, SetAttribute
from ov_gather.rules.opset_table import OWN_TYPES
from ov_gather.rules.opsets import attribute_kinds


def _has_known_precisions(graph: Model) -> bool:
    inputs = {port.precision for port in graph.input_ports}
    outputs = {port.precision for port in graph.output_ports}
    if None in outputs and not graph.is_fragment:
        return False
    return all(precision is None or by_precision(precision) for precision in inputs | outputs)


@rule("OVG301", Model, unless=_has_known_precisions)
def unknown_precision(graph: Model) -> Iterator[Violation]:
    """The precision of a port is unknown to OpenVINO, or an output port has none.

    The element type of the tensor is then unknown. Write a precision such as FP32 or I64. Only an output of a bare <layer>
    fragment may omit it.
    """
    hint = "write one such as FP32, FP16, I64, I32, BOOL"
    for layer in graph.layers:
        for port in (*layer.inputs, *layer.outputs):
            if port.precision is not None and by_precision(port.precision) is None:
                yield Violation.at(layer, f"unknown precision '{port.precision}'", hint, port=port)
        for port in () if graph.is_fragment else layer.outputs:
            if port.precision is None:
                yield Violation.at(layer, "no precision", hint, port=port)


@rule("OVG302", Judge)
def edge_precision(judge: Judge) -> Iterator[Violation]:
    """The precision of an input port differs from that of the output port that feeds it.

    OpenVINO ignores the precision of inputs, but other tools may trust it. Declare the precision of the output at both ends of
    the edge. An output port that contradicts its own layer is reported once, by OVG304, OVG305 or OVG306.
    """
    for layer, port, source, output in judge.graph.links:
        differ = port.precision != output.precision and None is not port.element_type != output.element_type is not None
        if differ and not judge.is_in_doubt(source, output):
            message = f"declares {port.precision}, but its producer, {source}, gives {output.precision}"
            yield Violation.at(layer, message, f"declare {output.precision}", port=port, fix=_precision(output.precision))


@rule("OVG306", Model)
def attribute_and_output_type(graph: Model) -> Iterator[Violation]:
    """An attribute that sets the element type of an output, e.g. destination_type of Convert, matches no output port.

    OpenVINO uses the attribute, but other tools may use the port. Make the two agree.
    """
    for layers in graph.kinds.values():
        names = [name for name, kind in (attribute_kinds(layers[0]) or {}).items() if kind == "type"]
        if not names or layers[0].is_leaf or layers[0].type in OWN_TYPES:  # OVG305 checks the element_type of leaves
            continue
        for layer, name in ((layer, name) for layer in layers for name in names):
            stated = by_name(layer.attributes.get(name, "dynamic"))
            if stated in (None, DYNAMIC) or any(port.element_type in (None, stated) for port in layer.outputs):
                continue
            if not decompresses(layer):
                hint = f"declare it on an output, or correct {name}"
                yield Violation.at(layer, f"{name} is {stated}, which no output declares", hint, line=layer.data_line)


@rule("OVG303", LayerView | Judged)
def input_type(layer: LayerView | Judged) -> Iterator[Violation]:
    """An input of a layer has an element type that the operation does not accept.

    For example, indices must be i32 or i64, and both inputs of Add have one type. Convert the tensor to a type that the finding
    names.
    """
    return of_contract(layer, BadTypeError) if isinstance(layer, Judged) else _unaccepted(layer)


def _unaccepted(view: LayerView) -> Iterator[Violation]:
    for place in view.unaccepted:
        given, port = view.operation.inputs[place], view.layer.inputs[place]
        allowed = " or ".join(map(str, given.element_types or ()))
        message, hint = (
            f"{given.name} has element type {view.input_types[place]}",
            f"{view.operation.name} takes {allowed} here",
        )
        yield Violation.at(view.layer, message, hint, port=port)


@rule("OVG308", LayerView)
def input_types_together(view: LayerView) -> Iterator[Violation]:
    """Inputs of a gather-family layer that need the same element type have different ones, e.g. data and updates.

    OpenVINO refuses the model. Convert one tensor to the type of the other.
    """
    if view.unaccepted:  # OVG303 reports it
        return
    try:
        view.operation.infer_types(view.input_types)
    except TypeRuleError as error:
        yield Violation.at(view.layer, error.reason, error.hint, port=view.layer.inputs[error.port])


@rule("OVG304", LayerView | Judged)
def output_type(layer: LayerView | Judged) -> Iterator[Violation]:
    """The precision of an output port of a layer differs from what the operation produces.

    OpenVINO infers its own, but other tools may trust the port. Declare what the operation produces.
    """
    are_known = isinstance(layer, Judged) or (layer.types_fit and layer.shape_error is None)
    types = layer.output_types if are_known else ()
    for inferred, port in zip(types or (), layer.layer.outputs, strict=False):
        if inferred is not None and declares_other_type(port, inferred):
            precision = inferred.precision
            message = f"declares {port.precision}, but {layer.operation_name} gives {precision} for these inputs"
            yield Violation.at(layer.layer, message, f"declare {precision}", port=port, fix=_precision(precision))


def declares_other_type(port: Port, kind: ElementType | None) -> bool:
    """Return True if a port declares another element type than this; None is any."""
    return kind not in (None, DYNAMIC) and port.element_type not in (None, kind)


@rule("OVG305", Model)
def declared_element_type(graph: Model) -> Iterator[Violation]:
    """The element_type of a Parameter or Const is unknown, or differs from that of its output port.

    OpenVINO uses the attribute, but other tools may use the port. Make the two agree.
    """
    for layer in graph.leaves:
        text, declared = layer.attributes.get("element_type", ""), layer.declared_type
        if declared is None:
            hint = "write one such as f32, f16, i64, i32, boolean"
            yield Violation.at(layer, f"unknown element_type '{text}'", hint, line=layer.data_line)
            continue
        for port in layer.outputs:
            if port.element_type not in (None, declared) and not has_other_size(layer):
                message = f"declares {port.precision}, but element_type is {declared}"
                hint = f"declare {declared.precision}, or correct element_type"
                yield Violation.at(layer, message, hint, port=port, fix=_precision(declared.precision))


def _precision(precision: str | None) -> Fix | None:
    """Return the fix that declares this precision. It is safe: OpenVINO infers types, whatever ports declare."""
    return Fix(SetAttribute("port", "precision", precision)) if precision else None
