"""Conversion of fixes to byte edits of the document and of the .bin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ov_gather.ir.weights import PatchedWeights
from ov_gather.ir.xml.spans import Edit, Span, edited, spans, with_attribute, with_dims
from ov_gather.rules.findings import Finding
from ov_gather.rules.fixes import CutWeights, NumberPorts, SetAttribute, SetDims, WriteWeights
from ov_gather.system.traversal import reachable

_NUMBER = re.compile(r"\s*\+?([0-9]{1,30})")


def applied(document: bytes, weights: PatchedWeights, findings: Iterable[Finding]) -> tuple[bytes, PatchedWeights]:
    """Apply the fixes of findings in this document. Raises ValueError if the place of one is ambiguous, or two overlap."""
    root = spans(document)
    edits: dict[tuple[int, int], Edit] = {}
    for finding in findings:
        assert finding.fix is not None
        step = finding.fix.step
        if isinstance(step, WriteWeights):
            _only(_users(root, step.offset, step.offset + len(step.content)), "elements that refer to these bytes")
            weights = weights.patched({step.offset: step.content}, None)
        elif isinstance(step, CutWeights):
            if _users(root, step.size, weights.size()):
                raise ValueError("an element refers to bytes that are to be cut off")
            weights = weights.patched({}, step.size)
        else:
            for edit in _edits(document, _graph(root, finding), finding, step):
                edits[edit.start, edit.end] = edit  # two findings may have the same fix
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
    """Renumber the ports of a layer in document order, and the ends of its edges."""
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


def _users(root: Span, start: int, end: int) -> list[Span]:
    """Return the elements that refer, or may refer, to these bytes of the .bin.

    Besides Consts, layers of extensions have offsets of their own, and so have the blobs of old documents. An offset without a
    size may reach any later byte.
    """
    found = []
    for element in reachable([root], lambda element: element.children):
        first, sizes = _numbers(element, "offset"), _numbers(element, "size", "length", "bytes")
        if any(offset < end and start < offset + max(sizes, default=end) for offset in first):
            found.append(element)
    return found


def _numbers(element: Span, *words: str) -> list[int]:
    """Return the numbers that begin the values of the attributes whose names contain one of the words."""
    values = (value for name, value in element.attributes.items() if any(word in name.lower() for word in words))
    return [int(match[1]) for match in map(_NUMBER.match, values) if match]


def _graph(root: Span, finding: Finding) -> Span:
    """Find the graph of a finding by its sub-graph path, which alternates owner layers and tags of bodies."""
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
