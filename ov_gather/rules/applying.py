"""Conversion of fixes to byte edits of the document and of the .bin."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from math import inf

from ov_gather.ir.weights import PatchedWeights
from ov_gather.ir.xml.spans import Edit, Span, edited, spans, with_attribute, with_dims
from ov_gather.rules.findings import Finding
from ov_gather.rules.fixes import CutWeights, NumberPorts, SetAttribute, SetDims, WriteWeights
from ov_gather.system.traversal import reachable

_NUMBER = re.compile(r"\s*\+?([0-9]{1,30})")

Index = Mapping[str | None, list[Span]]


def applied(document: bytes, weights: PatchedWeights, findings: Iterable[Finding]) -> tuple[bytes, PatchedWeights]:
    """Apply the fixes of findings in this document. Raises ValueError if the place of one is ambiguous, or two overlap."""
    places = _Places(document)
    edits: dict[tuple[int, int], Edit] = {}
    patches: dict[int, bytes] = {}
    cut: int | None = None
    for finding in findings:
        assert finding.fix is not None
        step = finding.fix.step
        if isinstance(step, WriteWeights):
            if places.users(step.offset, step.offset + len(step.content)) != 1:
                raise ValueError("other elements refer to the bytes that are to be written")
            patches[step.offset] = step.content
        elif isinstance(step, CutWeights):
            if places.users(step.size, weights.size()):
                raise ValueError("an element refers to bytes that are to be cut off")
            cut = step.size
        else:
            for edit in _edits(places, finding, step):
                edits[edit.start, edit.end] = edit  # two findings may have the same fix
    return edited(document, list(edits.values())), weights.patched(patches, cut)


def _edits(places: _Places, finding: Finding, step: SetAttribute | SetDims | NumberPorts) -> Iterator[Edit]:
    document, layer = places.document, places.layer(finding)
    if isinstance(step, NumberPorts):
        yield from _renumbered(places, places.graph(finding), layer)
    elif isinstance(step, SetDims):
        yield with_dims(document, places.port(layer, finding.location.port), step.dims)
    elif step.element == "port":
        yield with_attribute(document, places.port(layer, finding.location.port), step.name, step.value)
    else:
        element = layer if step.element == "layer" else _only(list(layer.all("data")), "<data>")
        yield with_attribute(document, element, step.name, step.value)


def _renumbered(places: _Places, graph: Span, layer: Span) -> Iterator[Edit]:
    """Renumber the ports of a layer in document order, and the ends of its edges."""
    ports = _ports(layer)
    new = dict(zip((port.attributes["id"] for port in ports), map(str, range(len(ports))), strict=True))
    if len(new) < len(ports):
        raise ValueError("two ports have the same id")
    for port in ports:
        yield with_attribute(places.document, port, "id", new[port.attributes["id"]])
    for side in ("from", "to"):
        for edge in places.edges(graph, side)[layer.attributes.get("id")]:
            yield with_attribute(places.document, edge, f"{side}-port", new[edge.attributes[f"{side}-port"]])


class _Places:
    """The elements of a document by what findings say of their places. Each index is made when it is first needed."""

    def __init__(self, document: bytes) -> None:
        self.document = document
        self.root = spans(document)
        self._indices: dict[tuple[Span, str], Index] = {}

    def graph(self, finding: Finding) -> Span:
        """Find the graph of a finding by its sub-graph path, which alternates owner layers and tags of bodies."""
        graph, way = self.root, finding.location.subgraph_path
        for described, tag in zip(way[::2], way[1::2], strict=True):
            graph = _only(list(_only(self._described(graph)[described], "layer").all(tag)), f"<{tag}>")
        return graph

    def layer(self, finding: Finding) -> Span:
        """Find the layer of a finding; the root if that is a bare layer."""
        graph = self.graph(finding)
        return graph if graph.tag == "layer" else _only(self._layers(graph)[str(finding.location.layer_id)], "layer")

    def port(self, layer: Span, port_id: int | None) -> Span:
        """Find a port of a layer."""
        ports = self._index(layer, "ports", _ports, lambda port: port.attributes.get("id"))
        return _only(ports[str(port_id)], "port")

    def edges(self, graph: Span, side: str) -> Index:
        """Return the edges of a graph, a bare layer has none, by the ids of the layers at their "from" or "to" side."""
        return self._index(graph, side, _edges_of, lambda edge: edge.attributes[f"{side}-layer"])

    def users(self, start: int, end: float) -> int:
        """Count the references, or possible ones, to these bytes of the .bin.

        Besides Consts, layers of extensions have offsets of their own, and so have the blobs of old documents. An offset
        without a size may reach any later byte.
        """
        firsts, lasts = self._references
        return bisect_left(firsts, end) - bisect_right(lasts, start)

    @cached_property
    def _references(self) -> tuple[list[float], list[float]]:
        """The first bytes of all references to the .bin, sorted, and the bytes behind their last, sorted."""
        found: list[tuple[float, float]] = []
        for element in reachable([self.root], lambda element: element.children):
            sizes = _numbers(element, "size", "length", "bytes")
            found += ((first, first + max(sizes, default=inf)) for first in {*_numbers(element, "offset")})
        return sorted(first for first, _ in found), sorted(last for _, last in found)

    def _layers(self, graph: Span) -> Index:
        return self._index(graph, "layers", _layers_of, lambda layer: layer.attributes.get("id"))

    def _described(self, graph: Span) -> Index:
        return self._index(
            graph, "described", _layers_of, lambda layer: f"{layer.attributes['type']} '{layer.attributes['name']}'"
        )

    def _index(
        self, owner: Span, kind: str, elements: Callable[[Span], Iterable[Span]], key: Callable[[Span], str | None]
    ) -> Index:
        if (owner, kind) not in self._indices:
            index: defaultdict[str | None, list[Span]] = defaultdict(list)
            for element in elements(owner):
                index[key(element)].append(element)
            self._indices[owner, kind] = index
        return self._indices[owner, kind]


def _numbers(element: Span, *words: str) -> list[int]:
    """Return the numbers that begin the values of the attributes whose names contain one of the words."""
    values = (value for name, value in element.attributes.items() if any(word in name.lower() for word in words))
    return [int(match[1]) for match in map(_NUMBER.match, values) if match]


def _layers_of(graph: Span) -> list[Span]:
    return [graph] if graph.tag == "layer" else [layer for section in graph.all("layers") for layer in section.children]


def _edges_of(graph: Span) -> list[Span]:
    return [edge for section in graph.all("edges") for edge in section.children]


def _ports(layer: Span) -> list[Span]:
    return [port for side in ("input", "output") for section in layer.all(side) for port in section.all("port")]


def _only(found: list[Span], what: str) -> Span:
    if len(found) != 1:
        raise ValueError(f"{what}: there is one to change, and {len(found)} were found")
    return found[0]
