"""2xx: the attributes of layers, against what their operations have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ov_gather.ir.model import Layer, Model
from ov_gather.ops import FAMILY, find_operation
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Attribute
from ov_gather.rules.base import Violation, graph_rule, layer_rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.opsets import attribute_kinds, is_of_kind
from ov_gather.rules.spelling import hint

# OpenVINO's own writer may add these to any layer; they are hints to a plugin, not the operation's.
_OF_ANY_LAYER = frozenset({"PrimitivesPriority", "alt_width"})
_OF_LAYER = frozenset({"output_names"})
_OF_PORT = frozenset({"names"})
_SAID_ELSEWHERE = frozenset({("Parameter", "type"), ("Parameter", "shape")})  # OVG305, OVG405
_MISSED_ELSEWHERE = frozenset({("Const", "element_type"), ("Const", "offset"), ("Const", "size")})  # OVG503
# Kind of an attribute -> what its text must be, and what to write.
_WHAT = {
    "int": ("an integer", "write a decimal integer"),
    "float": ("a number", "write a decimal number"),
    "bool": ("a boolean", "write true or false"),
    "ints": ("a list of integers", "separate decimal integers by commas"),
    "floats": ("a list of numbers", "separate decimal numbers by commas"),
    "type": ("an element type", "write one such as f32, f16, i64, i32, boolean"),
    "shape": ("a shape", "separate dimensions by commas"),
}


@layer_rule("OVG201")
def missing_attribute(view: LayerView) -> Iterator[Violation]:
    """An attribute that the operation requires is missing. OpenVINO's reader silently takes a default."""
    for attribute in view.operation.attributes:
        if attribute.required and attribute.name not in view.layer.attributes:
            yield Violation(
                f"attribute {attribute.name} is missing",
                f'{view.operation.name} requires it: <data {attribute.name}="..." />; OpenVINO would take {attribute.default}',
                view.layer.data_line,
                view.layer,
            )


@layer_rule("OVG202")
def unknown_attribute(view: LayerView) -> Iterator[Violation]:
    """A gather-family layer has an attribute that its operation does not. OpenVINO ignores it."""
    known = [attribute.name for attribute in view.operation.attributes]
    return _unknown(view.layer, known, view.operation.name)


@graph_rule("OVG203")
def malformed_attribute(graph: Model) -> Iterator[Violation]:
    """The text of an attribute is not of its kind. OpenVINO reads "1.7" and "1x" as 1, and "yes" as the default."""
    for layers in graph.kinds.values():
        kinds = _kinds(layers[0])
        if not kinds or layers[0].type == "Const":  # OVG3, OVG4 and OVG5 are about its attributes
            continue
        for layer in layers:
            for name, text in layer.attributes.items():
                kind = kinds.get(name, "text")
                if not is_of_kind(text, kind) and (layer.type, kind) not in _SAID_ELSEWHERE:
                    what, advice = _WHAT.get(kind, ("one of the words allowed", f"write {kind.replace('|', ' or ')}"))
                    yield Violation(f"{name}: '{text[:40]}' is not {what}", advice, layer.data_line, layer)


@layer_rule("OVG204")
def attribute_out_of_range(view: LayerView) -> Iterator[Violation]:
    """The value of an attribute lies outside its range, e.g. an axis outside [-r, r-1] for data of rank r."""
    for attribute, text in _given(view):
        valid = attribute.valid_range(view.input_shapes)
        try:
            value = attribute.parse(text)
        except ValueError:
            continue
        if valid and not valid[0] <= value <= valid[1]:
            yield Violation(
                f"{attribute.name}={value} is out of range",
                f"for these inputs it may be {valid[0]} to {valid[1]}",
                view.layer.data_line,
                view.layer,
            )
    for given, port, value in zip(view.operation.inputs, view.layer.inputs, view.attribute_values, strict=True):
        try:
            if given.attribute and value is not None:
                given.attribute.of_value(value, view.input_shapes)
        except ValueError as error:
            yield Violation(str(error), "correct the constant that feeds it", port.line, view.layer, port.id)


@graph_rule("OVG205", Severity.WARNING)
def misplaced_attribute(graph: Model) -> Iterator[Violation]:
    """<layer> or <port> has an XML attribute that OpenVINO does not look for there, e.g. one that belongs into <data>."""
    for layer in graph.layers:
        for name in layer.extra.keys() - _OF_LAYER if layer.extra else ():
            otherwise = "OpenVINO looks for it in <data>" if name in _kinds(layer) else "OpenVINO ignores it"
            yield Violation(f"unknown attribute {name} of <layer>", hint(name, _OF_LAYER, otherwise), layer.line, layer)
    given = {tuple(port.attributes) for ports in (graph.input_ports, graph.output_ports) for port in ports if port.attributes}
    if _OF_PORT.issuperset(name for names in given for name in names):
        return
    for layer, port in graph.ports():
        for name in port.attributes.keys() - _OF_PORT:
            advice = hint(name, _OF_PORT, "OpenVINO ignores it")
            yield Violation(f"unknown attribute {name} of <port>", advice, port.line, layer, port.id)


@graph_rule("OVG206", Severity.WARNING)
def left_to_default(graph: Model) -> Iterator[Violation]:
    """A layer outside the gather family lacks an attribute of its operation. OpenVINO, which writes all, takes a default."""
    for layer, kinds in _outside_family(graph):
        missing = [name for name in kinds if name not in layer.attributes and (layer.type, name) not in _MISSED_ELSEWHERE]
        if missing:
            yield Violation(
                f"attribute {', '.join(missing)} is missing", "write it, rather than rely on a default", layer.data_line, layer
            )


@graph_rule("OVG207", Severity.WARNING)
def foreign_attribute(graph: Model) -> Iterator[Violation]:
    """A layer outside the gather family has an attribute that its operation does not. OpenVINO ignores it."""
    for layer, kinds in _outside_family(graph):
        if not layer.attributes.keys() <= kinds.keys():
            yield from _unknown(layer, list(kinds), f"{layer.type} of {layer.version}")


def _outside_family(graph: Model) -> Iterator[tuple[Layer, Mapping[str, str]]]:
    """The other layers with an operation of OpenVINO whose attributes are not exactly its own."""
    for (layer_type, _), layers in graph.kinds.items():
        kinds = attribute_kinds(layers[0])
        if kinds is not None and layer_type not in FAMILY:
            yield from ((layer, kinds) for layer in layers if layer.attributes.keys() != kinds.keys())


def _unknown(layer: Layer, known: list[str], operation: str) -> Iterator[Violation]:
    for name in layer.attributes:
        if name not in known and name not in _OF_ANY_LAYER and (layer.type, name) != ("Const", "value"):
            otherwise = f"{operation} has {', '.join(known) or 'none'}"
            yield Violation(f"unknown attribute {name}", hint(name, known, otherwise), layer.data_line, layer)


def _kinds(layer: Layer) -> Mapping[str, str]:
    operation = find_operation(layer)
    if operation:
        return {attribute.name: attribute.kind for attribute in operation.attributes}
    return attribute_kinds(layer) or {}


def _given(view: LayerView) -> Iterator[tuple[Attribute, str]]:
    for attribute in view.operation.attributes:
        if attribute.name in view.layer.attributes:
            yield attribute, view.layer.attributes[attribute.name]
