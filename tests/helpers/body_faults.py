"""Single changes of models with bodies, states and recurrent sequences, and what OpenVINO says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np
from lxml import etree

from helpers.body_models import written
from helpers.body_reference import UndefinedError, computed
from helpers.worker_process import call_each
from ov_gather import read_ir, validate
from ov_gather.ir.element_types import by_name
from ov_gather.ir.errors import IRError
from ov_gather.ir.shapes import PartialShape
from ov_gather.rules.findings import Severity

Change = Callable[[etree._Element], None]
_ATTRIBUTES = {
    "axis": ("0", "1", "2", "-1", "5", "-5"),
    "start": ("0", "1", "-1", "-2", "100", "-100"),
    "end": ("0", "1", "-1", "-2", "2", "100", "-100"),
    "stride": ("0", "1", "-1", "2", "-2", "3", "100"),
    "part_size": ("0", "-1", "1", "2", "3", "100"),
    "purpose": ("current_iteration", "execution_condition", ""),
    "from-layer": ("99",),
    "from-port": ("9",),
    "to-layer": ("99",),
    "to-port": ("9",),
    "variable_id": ("other", "one", ""),
    "variable_type": ("i32", "f16", "dynamic"),
    "variable_shape": ("2", "7,3", "3,2", "2,?", "?,?", "...", "2,3,1", ""),
    "hidden_size": ("0", "3", "5", "-4"),
    "direction": ("forward", "reverse", "bidirectional", "backward"),
    "activations": ("tanh", "sigmoid,tanh", "sigmoid,tanh,tanh", "sigmoid,tanh,tanh,tanh", "tanh,tanh", "sine,tanh,tanh", ""),
    "clip": ("-1",),
    "linear_before_reset": ("true",),
}
_OF = {
    "input": ("axis", "start", "end", "stride", "part_size", "purpose"),
    "output": ("axis", "start", "end", "stride", "part_size", "purpose"),
    "edge": ("from-layer", "from-port", "to-layer", "to-port"),
    "data": ("variable_id", "variable_type", "variable_shape", "hidden_size", "direction", "activations", "clip"),
}
"""Values of attributes, and by tag which are changed."""
_TYPES = ("f16", "f32", "i32", "i64", "boolean")
_WITH_BODIES = ("If", "Loop", "TensorIterator")
UNDEFINED_ERRORS = (UndefinedError, IRError, ValueError, IndexError, KeyError, AttributeError, TypeError)
"""What `body_reference` and NumPy raise where a model is none, or has an operator that they do not know."""
UNFOUND = {
    r"counted_loop: (layers/layer\[2\]: of shape [01],3|.*input\[0\]: stride=3|edges/edge\[2\]: from layer 3.*)": (
        "an input is the trip count: it may be small enough for the slices"
    ),
    r"(counted_loop|loop): Loop \d / edges/.*": "a port without dims is a scalar, or of an open rank",
    r"states: ReadValue . / data\[0\]: variable_shape=(2|\?),\?": "the plugin starts with sizes of 0 and copies open sizes",
    r"states: ReadValue . / data\[0\]: variable_type=dynamic": "in some models the plugin takes the type of the initial value",
    r"states: ReadValue . / data\[0\]: variable_shape=\.\.\.": "an open rank is refused by the CPU plugin only",
}
"""Changes that OpenVINO refuses and `validate` does not report, and why."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed document. `what` says what was changed; whether that is a fault, OpenVINO tells."""

    what: str
    xml: bytes
    weights: bytes


def changed(name: str) -> Iterator[Changed]:
    """Yield a model as it is, and single changes of it."""
    xml, weights = written(name)
    root = etree.fromstring(xml, etree.XMLParser(remove_blank_text=True))
    seen = {etree.tostring(root)}
    yield Changed("", etree.tostring(root), weights)
    for index, element in enumerate(root.iter()):
        for what, change in _changes(element):
            copy = deepcopy(root)
            change(list(copy.iter())[index])
            text = etree.tostring(copy)
            if text not in seen:
                seen.add(text)
                yield Changed(f"{_place(element)}: {what}", text, weights)


def _place(element: etree._Element) -> str:
    layers = [f"{one.get('type')} {one.get('id')}" for one in element.iterancestors("layer")][::-1]
    parent = element.getparent()
    position = "" if parent is None else f"[{list(parent).index(element)}]"
    inside = "" if parent is None or parent.tag == "layer" else f"{parent.tag}/"
    return " / ".join([*layers, f"{inside}{element.tag}{position}"])


def _changes(element: etree._Element) -> Iterator[tuple[str, Change]]:
    tag, parent = element.tag, element.getparent()
    if tag in ("input", "output") and parent is not None and parent.tag == "layer":
        if parent.get("type") in _WITH_BODIES:
            yield "one port less", _without_last_port
            yield "one port more", _with_another_port
        return
    for name in _OF.get(tag, ()):
        if tag == "data" and name not in element.attrib:
            continue
        if name in ("start", "end", "stride", "part_size") and "axis" not in element.attrib:
            continue
        if tag == "edge" and parent.tag == "back_edges" and "port" in name:
            continue
        for value in _ATTRIBUTES[name]:
            yield f"{name}={value}", partial(_set, name, value)
        yield f"without {name}", partial(_unset, name)
    if tag in ("input", "output", "edge", "port_map", "then_port_map", "else_port_map", "back_edges", "body", "then_body"):
        yield "missing", _remove
        yield "twice", _repeat
    if tag in ("input", "output"):
        for value in ("-1", "0", "1", "2", "3", "99", ""):
            yield f"external_port_id={value}", partial(_set, "external_port_id", value)
        for layer in (*parent.getparent().findall("*/layers/layer"), {"id": "99"}):
            yield f"internal_layer_id={layer.get('id')}", partial(_set, "internal_layer_id", layer.get("id"))
        yield "before the entry before", _move_up
    if tag == "edge":
        yield "reversed", _reverse
        graph = parent.getparent()
        if parent.tag == "edges":
            for layer in graph.findall("layers/layer"):
                for port in layer.findall("output/port"):
                    yield (
                        f"from layer {layer.get('id')}, port {port.get('id')}",
                        partial(_lead_from, layer.get("id"), port.get("id")),
                    )
        else:
            for layer in graph.findall("body/layers/layer"):
                yield f"from-layer={layer.get('id')}", partial(_set, "from-layer", layer.get("id"))
                yield f"to-layer={layer.get('id')}", partial(_set, "to-layer", layer.get("id"))
    if tag == "layer":
        yield "missing, edges stay", _remove
        yield "missing with its edges", _remove_with_edges
        yield "first", partial(_move_to, 0)
        yield "last", partial(_move_to, 10**6)
        if element.get("type") == "Parameter":
            for kind in _TYPES:
                yield f"of {kind}", partial(_retype, kind)
            sizes = [dim.text for dim in element.findall("output/port/dim")]
            for dims in _other_dims(sizes):
                yield f"of shape {','.join(dims)}", partial(_reshape, dims)


def _other_dims(sizes: list[str]) -> Iterator[list[str]]:
    yield ["1", *sizes]
    yield [*sizes, "2"]
    if sizes:
        yield sizes[1:]
    for place, size in enumerate(sizes):
        for other in ("0", "1", str(int(size) + 1)):
            yield [*sizes[:place], other, *sizes[place + 1 :]]


def _set(name: str, value: str, element: etree._Element) -> None:
    element.set(name, value)


def _unset(name: str, element: etree._Element) -> None:
    element.attrib.pop(name, None)


def _remove(element: etree._Element) -> None:
    element.getparent().remove(element)


def _repeat(element: etree._Element) -> None:
    element.addnext(deepcopy(element))


def _move_up(element: etree._Element) -> None:
    before = element.getprevious()
    if before is not None:
        before.addprevious(element)


def _move_to(position: int, element: etree._Element) -> None:
    parent = element.getparent()
    parent.remove(element)
    parent.insert(position, element)


def _reverse(edge: etree._Element) -> None:
    for end in ("layer", "port"):
        values = edge.get(f"from-{end}"), edge.get(f"to-{end}")
        if None not in values:
            edge.set(f"from-{end}", values[1])
            edge.set(f"to-{end}", values[0])


def _lead_from(layer: str, port: str, edge: etree._Element) -> None:
    """Let an edge begin elsewhere, and declare at its end what is there."""
    edge.set("from-layer", layer)
    edge.set("from-port", port)
    graph = edge.getparent().getparent()
    _declare_at_ends(graph, layer, port)


def _remove_with_edges(layer: etree._Element) -> None:
    graph = layer.getparent().getparent()
    for edge in graph.findall("edges/edge"):
        if layer.get("id") in (edge.get("from-layer"), edge.get("to-layer")):
            _remove(edge)
    _remove(layer)


def _retype(kind: str, parameter: etree._Element) -> None:
    element_type = by_name(kind)
    assert element_type is not None
    parameter.find("data").set("element_type", kind)
    parameter.find("output/port").set("precision", element_type.precision)
    _declare_at_ends(parameter.getparent().getparent(), parameter.get("id"), "0")


def _reshape(dims: list[str], parameter: etree._Element) -> None:
    parameter.find("data").set("shape", ",".join(dims))
    _set_dims(parameter.find("output/port"), dims)
    _declare_at_ends(parameter.getparent().getparent(), parameter.get("id"), "0")


def _set_dims(port: etree._Element, dims: list[str]) -> None:
    port[:] = []
    for size in dims:
        etree.SubElement(port, "dim").text = size


def _declare_at_ends(graph: etree._Element, layer: str, port: str) -> None:
    """Declare at the inputs that read an output what this output declares."""
    output = graph.find(f"layers/layer[@id='{layer}']/output/port[@id='{port}']")
    for edge in graph.findall(f"edges/edge[@from-layer='{layer}'][@from-port='{port}']"):
        inside = graph.find(f"layers/layer[@id='{edge.get('to-layer')}']/input/port[@id='{edge.get('to-port')}']")
        if inside is not None:
            inside.set("precision", output.get("precision"))
            _set_dims(inside, [dim.text for dim in output.findall("dim")])


def _without_last_port(side: etree._Element) -> None:
    side.remove(side[-1])


def _with_another_port(side: etree._Element) -> None:
    port = deepcopy(side[-1])
    port.set("id", str(int(port.get("id")) + 10))
    port.attrib.pop("names", None)
    side.append(port)


Outputs = dict[str, tuple[list[tuple[str, tuple[int, ...]]], list["Outputs"]]]
"""Of each node: the type and dims of its outputs, and the same of the nodes in its bodies."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What OpenVINO does with a model: "ok", or the step at which it refuses it, and why; what it infers and gives out."""

    done: str
    inferred: Outputs
    values: list[np.ndarray]
    reason: str = ""


def judged_by_openvino(item: tuple[bytes, bytes]) -> Verdict:
    """Read, compile and execute a model."""
    import openvino as ov

    xml, weights = item
    try:
        model = ov.Core().read_model(xml, ov.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
    except RuntimeError as error:
        return Verdict("read", {}, [], str(error))
    inferred = _outputs(model)
    try:
        compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1})
        request = compiled.create_infer_request()
        request.start_async(feed_of((_kind(one)[1], one.get_element_type().to_dtype()) for one in model.inputs))
        request.wait()
    except RuntimeError as error:
        return Verdict("execution", inferred, [], str(error))
    return Verdict("ok", inferred, [np.array(request.get_output_tensor(i).data) for i in range(len(compiled.outputs))])


def feed_of(inputs: Iterable[tuple[tuple[int, ...], np.dtype]]) -> list[np.ndarray]:
    """Return small whole numbers for inputs of these dims and types; open sizes are 3, and so are single numbers."""
    feed = []
    for dims, dtype in inputs:
        sizes = [3 if size < 0 else size for size in dims]
        numbers = np.arange(int(np.prod(sizes))) % 3 if sizes else np.array(3)
        feed.append(numbers.reshape(sizes).astype(dtype))
    return feed


def _outputs(graph) -> Outputs:
    from ov_gather.graph.openvino import bodies

    nodes = graph.get_ops()
    return {node.get_friendly_name(): ([*map(_kind, node.outputs())], [*map(_outputs, bodies(node))]) for node in nodes}


def _kind(value) -> tuple[str, tuple[int, ...]]:
    shape = value.get_partial_shape()
    dims = shape if shape.rank.is_static else ()
    return value.get_element_type().get_type_name(), tuple(dim.get_length() if dim.is_static else -1 for dim in dims)


def declared(xml: bytes, inferred: Outputs) -> bytes:
    """Return a document whose ports declare what OpenVINO infers."""
    root = etree.fromstring(xml)
    _declare(root, inferred)
    return etree.tostring(root)


def _declare(graph: etree._Element, inferred: Outputs) -> None:
    for layer in graph.findall("layers/layer"):
        found, inner = inferred.get(layer.get("name"), ([], []))
        for port, (kind, dims) in zip(layer.findall("output/port"), found, strict=False):
            element_type = by_name(kind)
            port.set("precision", "UNSPECIFIED" if element_type is None else element_type.precision)
            _set_dims(port, list(map(str, dims)))
            if layer.get("type") == "Parameter" and dims in PartialShape.parse(layer.find("data").get("shape")):
                layer.find("data").set("shape", ",".join(map(str, dims)))
            _declare_at_ends(graph, layer.get("id"), port.get("id"))
        tags = ("then_body", "else_body") if layer.get("type") == "If" else ("body",)
        for tag, of_body in zip(tags, inner, strict=False):
            _declare(layer.find(tag), of_body)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A changed model, what `validate` finds in it, and how OpenVINO compares with NumPy.

    Attributes:
        findings, errors: warnings and errors as texts; errors alone.
        is_refused: True if OpenVINO refuses the model, or dies of it.
        is_right, is_other: True if OpenVINO computes what the specifications say, or something else; both are False if they say
            nothing, or the operators are none that `body_reference` computes.
    """

    what: str
    findings: list[str]
    errors: list[str]
    is_refused: bool
    is_right: bool
    is_other: bool


def outcomes(name: str, part: int = 0, parts: int = 1) -> Iterator[Outcome]:
    """Yield the outcomes of every `parts`-th change of a model from `part` on."""
    changes = [one for i, one in enumerate(changed(name)) if i % parts == part]
    verdicts = call_each(judged_by_openvino, [(one.xml, one.weights) for one in changes], lambda _: Verdict("end", {}, []))
    for one, verdict in zip(changes, verdicts, strict=True):
        is_refused = verdict.done != "ok"
        xml = one.xml if is_refused else declared(one.xml, verdict.inferred)
        found = [finding for finding in validate(xml, weights=one.weights) if finding.severity is not Severity.NOTE]
        texts = [f"{finding.rule}: {finding.message}" for finding in found]
        errors = [text for text, finding in zip(texts, found, strict=True) if finding.severity is Severity.ERROR]
        right = None if is_refused else _is_right(xml, one.weights, verdict.values)
        yield Outcome(f"{name}: {one.what}", texts, errors, is_refused, right is True, right is False)


def _is_right(xml: bytes, weights: bytes, values: list[np.ndarray]) -> bool | None:
    """Return whether a model computes these values; None if the specifications do not say what it computes."""
    try:
        model = read_ir(xml, weights=weights)
        inputs = [(parameter.declared_shape.sizes, parameter.declared_type.dtype) for parameter in model.parameters]
        expected = computed(model, feed_of(inputs))
    except UNDEFINED_ERRORS:
        return None
    alike = (a.shape == b.shape and np.allclose(a, b) for a, b in zip(expected, values, strict=True))
    return len(expected) == len(values) and all(alike)
