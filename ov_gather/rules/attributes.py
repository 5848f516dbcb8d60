"""2xx: the attributes of layers, compared with those of their operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ov_gather.ir.model import Layer, Model
from ov_gather.ops import find_operation
from ov_gather.ops.contracts.call import BadValueError
from ov_gather.ops.contracts.judging import Judged
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.contracts import of_contract
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix, SetAttribute
from ov_gather.rules.opsets import attribute_kinds, is_of_kind
from ov_gather.rules.spelling import hint

# OpenVINO's writer may add these hints for plugins to any layer; they belong to no operation.
_OF_ANY_LAYER = frozenset({"PrimitivesPriority", "alt_width"})
_OF_LAYER = frozenset({"output_names"})
_OF_PORT = frozenset({"names"})
_CHECKED_ELSEWHERE = frozenset({("Parameter", "type"), ("Parameter", "shape")})  # by OVG305 and OVG405
_REQUIRED_ELSEWHERE = frozenset({("Const", "element_type"), ("Const", "offset"), ("Const", "size")})  # by OVG503
# For each kind of attribute: the expected text, and advice.
_WHAT = {
    "int": ("an integer", "write a decimal integer"),
    "float": ("a number", "write a decimal number"),
    "bool": ("a boolean", "write true or false"),
    "ints": ("a list of integers", "separate decimal integers by commas"),
    "floats": ("a list of numbers", "separate decimal numbers by commas"),
    "type": ("an element type", "write one such as f32, f16, i64, i32, boolean"),
    "shape": ("a shape", "separate dimensions by commas"),
}


@rule("OVG201", LayerView)
def missing_attribute(view: LayerView) -> Iterator[Violation]:
    """A gather-family layer lacks an attribute that its operation requires.

    OpenVINO silently uses a default, which may not be what was meant. Write the attribute in <data>.
    """
    for attribute in view.operation.attributes:
        if attribute.required and attribute.name not in view.layer.attributes:
            wanted = f'<data {attribute.name}="..." />; OpenVINO would take {attribute.default}'
            message, advice = f"attribute {attribute.name} is missing", f"{view.operation.name} requires it: {wanted}"
            yield Violation.at(view.layer, message, advice, line=view.layer.data_line)


@rule("OVG202", LayerView)
def unknown_attribute(view: LayerView) -> Iterator[Violation]:
    """A gather-family layer has an attribute that its operation does not have.

    OpenVINO ignores the attribute. Often its name is misspelt, and OpenVINO uses the default of the right one. Correct the
    name, or remove the attribute.
    """
    known = [attribute.name for attribute in view.operation.attributes]
    return _unknown(view.layer, known, view.operation.name)


@rule("OVG203", Model)
def malformed_attribute(graph: Model) -> Iterator[Violation]:
    """The value of an attribute is of another kind than the operation takes, e.g. not an integer.

    OpenVINO reads "1.7" and "1x" as 1, and uses the default for "yes", so it does not compute what the file says. Write a value
    of the right kind and nothing else.
    """
    for layers in graph.kinds.values():
        kinds = _kinds(layers[0])
        if not kinds or layers[0].type == "Const":  # the 3xx, 4xx and 5xx rules check its attributes
            continue
        for layer in layers:
            for name, text in layer.attributes.items():
                kind = kinds.get(name, "text")
                if not is_of_kind(text, kind) and (layer.type, kind) not in _CHECKED_ELSEWHERE:
                    what, advice = _WHAT.get(kind, ("one of the words allowed", f"write {kind.replace('|', ' or ')}"))
                    yield Violation.at(layer, f"{name}: '{text[:40]}' is not {what}", advice, line=layer.data_line)


@rule("OVG204", LayerView | Judged)
def attribute_out_of_range(layer: LayerView | Judged) -> Iterator[Violation]:
    """The value of an attribute lies outside its range, e.g. an axis outside [-r, r-1] for data of rank r.

    Outside its range the value has no meaning, and OpenVINO refuses it, or computes something else. The rule also covers
    constant inputs that act as attributes, such as the axis of Gather, the sizes of Reshape, and the lengths of VariadicSplit,
    maybe behind a Convert. If the range depends on an open dimension, a value is reported only if it is wrong for every size.
    Write a value in the range that the finding names.
    """
    return of_contract(layer, BadValueError) if isinstance(layer, Judged) else _of_family(layer)


def _of_family(view: LayerView) -> Iterator[Violation]:
    stated = [attribute for attribute in view.operation.attributes if attribute.name in view.layer.attributes]
    for attribute in stated:
        try:
            value = attribute.parse(view.layer.attributes[attribute.name])
        except ValueError:  # OVG203 reports it
            continue
        if valid := attribute.exceeds(value, view.input_shapes):
            advice = f"for these inputs it may be {valid[0]} to {valid[1]}"
            message = f"{attribute.name}={value} is out of range"
            yield Violation.at(view.layer, message, advice, line=view.layer.data_line)
    if not view.types_fit:  # OVG303 and OVG308 report it
        return
    for given, port, value in zip(view.operation.inputs, view.layer.inputs, view.attribute_values, strict=True):
        try:
            if given.attribute and value is not None:
                given.attribute.of_value(value, view.input_shapes)
        except ValueError as error:
            yield Violation.at(view.layer, str(error), "correct the constant that feeds it", port=port)


def _has_known_xml_attributes(graph: Model) -> bool:
    of_layers = {name for layer in graph.layers if layer.extra for name in layer.extra}
    ports = (port for ports in (graph.input_ports, graph.output_ports) for port in ports if port.attributes)
    return of_layers <= _OF_LAYER and {name for port in ports for name in port.attributes} <= _OF_PORT


@rule("OVG205", Model, Severity.WARNING, unless=_has_known_xml_attributes)
def misplaced_attribute(graph: Model) -> Iterator[Violation]:
    """A <layer> or <port> has an XML attribute that OpenVINO ignores there.

    Often the attribute belongs in the <data> of the layer, where OpenVINO uses the default instead. Move or remove the
    attribute.
    """
    for layer in graph.layers:
        for name in layer.extra.keys() - _OF_LAYER if layer.extra else ():
            otherwise = "OpenVINO looks for it in <data>" if name in _kinds(layer) else "OpenVINO ignores it"
            yield Violation.at(layer, f"unknown attribute {name} of <layer>", hint(name, _OF_LAYER, otherwise))
    for layer, port in graph.ports():
        for name in port.attributes.keys() - _OF_PORT if port.attributes else ():
            advice = hint(name, _OF_PORT, "OpenVINO ignores it")
            yield Violation.at(layer, f"unknown attribute {name} of <port>", advice, port=port)


@rule("OVG206", Model, Severity.WARNING)
def left_to_default(graph: Model) -> Iterator[Violation]:
    """A layer outside the gather family lacks an attribute of its operation.

    OpenVINO uses a default. It always writes all attributes itself, so this one was probably lost. Write the intended value.
    """
    for layer, kinds in _outside_family(graph):
        missing = [name for name in kinds if name not in layer.attributes and (layer.type, name) not in _REQUIRED_ELSEWHERE]
        if missing:
            message = f"attribute {', '.join(missing)} is missing"
            yield Violation.at(layer, message, "write it, rather than rely on a default", line=layer.data_line)


@rule("OVG207", Model, Severity.WARNING)
def foreign_attribute(graph: Model) -> Iterator[Violation]:
    """A layer outside the gather family has an attribute that its operation does not have.

    OpenVINO ignores the attribute. Perhaps its name is misspelt. Correct the name, or remove the attribute.
    """
    for layer, kinds in _outside_family(graph):
        if not layer.attributes.keys() <= kinds.keys():
            yield from _unknown(layer, list(kinds), f"{layer.type} of {layer.version}")


def _outside_family(graph: Model) -> Iterator[tuple[Layer, Mapping[str, str]]]:
    """Yield the layers of other OpenVINO operations whose attributes are not exactly the operation's, with the latter."""
    for layers in graph.kinds.values():
        kinds = attribute_kinds(layers[0])
        if kinds is not None and find_operation(layers[0]) is None:
            yield from ((layer, kinds) for layer in layers if layer.attributes.keys() != kinds.keys())


def _unknown(layer: Layer, known: list[str], operation: str) -> Iterator[Violation]:
    for name in layer.attributes:
        if name not in known and name not in _OF_ANY_LAYER and (layer.type, name) != ("Const", "value"):
            otherwise = f"{operation} has {', '.join(known) or 'none'}"
            fix = Fix(SetAttribute("data", name, None), safe=False)  # another name may have been meant
            yield Violation.at(layer, f"unknown attribute {name}", hint(name, known, otherwise), line=layer.data_line, fix=fix)


def _kinds(layer: Layer) -> Mapping[str, str]:
    """Return the attributes of a layer's operation with their kinds; empty if the operation is unknown."""
    operation = find_operation(layer)
    if operation:
        return {attribute.name: attribute.kind for attribute in operation.attributes}
    return attribute_kinds(layer) or {}
