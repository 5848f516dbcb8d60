"""A fix becomes changes of bytes: of the document, and of the .bin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.patched import PatchedWeights
from ov_gather.ir.xml.spans import Edit, Span, edited, spans, with_attribute, with_dims
from ov_gather.rules.findings import Finding
from ov_gather.rules.fixes import CutWeights, NumberPorts, SetAttribute, SetDims, WriteWeights


def applied(document: bytes, weights: PatchedWeights, findings: Iterable[Finding]) -> tuple[bytes, PatchedWeights]:
    """Apply the fixes of findings of this document. Raises ValueError where one has no certain place, or two meet in one."""
    root = spans(document)
    edits: dict[tuple[int, int], Edit] = {}
    for finding in findings:
        assert finding.fix is not None
        step = finding.fix.step
        if isinstance(step, WriteWeights):
            _only(_consts_at(root, step.offset, len(step.content)), "Consts with these bytes")
            weights = weights.patched({step.offset: step.content}, None)
        elif isinstance(step, CutWeights):
            weights = weights.patched({}, step.size)
        else:
            for edit in _edits(document, _graph(root, finding), finding, step):
                edits[edit.start, edit.end] = edit  # Two findings may ask for the same.
    return edited(document, list(edits.values())), weights


def _edits(document: bytes, graph: Span, finding: Finding, step: SetAttribute | SetDims | NumberPorts) -> Iterator[Edit]:
    place = finding.location
    named = [layer for layer in _layers(graph) if layer is graph or layer.attributes.get("id") == str(place.layer_id)]
    layer = _only(named, "layer")
    if isinstance(step, NumberPorts):
        yield from _renumbered(document, graph, layer)
    elif isinstance(step, SetDims):
        yield with_dims(document, _port(layer, place.port), step.dims)
    elif step.element == "port":
        yield with_attribute(document, _port(layer, place.port), step.name, step.value)
    else:
        element = layer if step.element == "layer" else _only(list(layer.all("data")), "<data>")
        yield with_attribute(document, element, step.name, step.value)


def _renumbered(document: bytes, graph: Span, layer: Span) -> Iterator[Edit]:
    """Number the ports of a layer as they stand, and the ends of its edges."""
    ports = _ports(layer)
    new = dict(zip((port.attributes["id"] for port in ports), map(str, range(len(ports))), strict=True))
    if len(new) < len(ports):
        raise ValueError("two ports have the same id")
    for port in ports:
        yield with_attribute(document, port, "id", new[port.attributes["id"]])
    for edge in (edge for section in graph.all("edges") for edge in section.children):
        for side in ("from", "to"):
            if edge.attributes[f"{side}-layer"] == layer.attributes["id"]:
                yield with_attribute(document, edge, f"{side}-port", new[edge.attributes[f"{side}-port"]])


def _consts_at(root: Span, offset: int, size: int) -> list[Span]:
    """Return the <data> of all Consts, those in bodies included, that have some of these bytes of the .bin."""
    found, waiting = [], [root]
    while waiting:
        element = waiting.pop()
        waiting += element.children
        start, length = (parse_digits(element.attributes.get(name, "")) for name in ("offset", "size"))
        if start is not None and length is not None and start < offset + size and offset < start + length:
            found.append(element)
    return found


def _graph(root: Span, finding: Finding) -> Span:
    """Follow the way of a finding through sub-graphs: in turn the layer that has a body, and the tag of the body."""
    graph, way = root, finding.location.subgraph_path
    for described, tag in zip(way[::2], way[1::2], strict=True):
        owners = [layer for layer in _layers(graph) if f"{layer.attributes['type']} '{layer.attributes['name']}'" == described]
        graph = _only(list(_only(owners, "layer").all(tag)), f"<{tag}>")
    return graph


def _layers(graph: Span) -> list[Span]:
    return [graph] if graph.tag == "layer" else [layer for section in graph.all("layers") for layer in section.children]


def _ports(layer: Span) -> list[Span]:
    return [port for side in ("input", "output") for section in layer.all(side) for port in section.all("port")]


def _port(layer: Span, port_id: int | None) -> Span:
    return _only([port for port in _ports(layer) if port.attributes.get("id") == str(port_id)], "port")


def _only(found: list[Span], what: str) -> Span:
    if len(found) != 1:
        raise ValueError(f"{what}: there is one to change, and {len(found)} were found")
    return found[0]
