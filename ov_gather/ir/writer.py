"""Model to .xml and .bin, in the canonical form: Parameters first, then topological order, Results last; ids 0..n-1; edges
by the layer they come from; identical payloads stored once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from heapq import heapify, heappop, heappush
from io import BytesIO
from pathlib import Path
from typing import IO
from xml.sax.saxutils import escape, quoteattr

from ov_gather.files import replacing
from ov_gather.interrupts import held
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Edge, Element, Layer, Model, Port
from ov_gather.ir.weights import payload

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_ir(model: Model, path: str | os.PathLike[str]) -> None:
    """Write `path` (.xml) and the .bin of the same stem; without Consts that is empty, as tools want a pair.

    Both are written to temporary names beside their place and moved when complete, so an error leaves nothing behind.

    Raises:
        IRError: the graph has a cycle or an id twice, a Const's payload cannot be had, or a name cannot stand in XML.
        OSError: the files cannot be written.
    """
    path = Path(path)
    if path.suffix == ".bin":
        raise ValueError(f"{path}: the .bin has this name; give the .xml another")
    with ExitStack() as files:
        xml_file, bin_file = (files.enter_context(replacing(it)) for it in (path, path.with_suffix(".bin")))
        xml_file.write(_serialize(model, bin_file))
        for file in (xml_file, bin_file):
            file.flush()  # that the disk is full must show before one of them is in its place
        with held():
            files.close()


def to_bytes(model: Model) -> tuple[bytes, bytes]:
    """The content of the .xml and of the .bin. Raises IRError as `write_ir` does."""
    binary = BytesIO()
    return _serialize(model, binary), binary.getvalue()


def _serialize(model: Model, binary: IO[bytes]) -> bytes:
    writer = _Writer(binary)
    if model.is_fragment:
        writer.layer(model, model.layers[0])
    else:
        writer.graph(model)
    return "\n".join(['<?xml version="1.0"?>', *writer.lines, ""]).encode()


class _Writer:
    def __init__(self, binary: IO[bytes]) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.binary = binary
        self.offsets: dict[bytes, int] = {}

    # ---- XML

    def empty(self, tag: str, attributes: Mapping[str, object]) -> None:
        self.line(f"<{tag}{_attributes(attributes)} />")

    @contextmanager
    def element(self, tag: str, attributes: Mapping[str, object] | None = None) -> Iterator[None]:
        self.line(f"<{tag}{_attributes(attributes or {})}>")
        self.depth += 1
        yield
        self.depth -= 1
        self.line(f"</{tag}>")

    def line(self, text: str) -> None:
        self.lines.append("\t" * self.depth + text)

    def verbatim(self, element: Element) -> None:
        if element.children:
            with self.element(element.tag, element.attributes):
                if element.text:
                    self.line(_text(element.text))
                for child in element.children:
                    self.verbatim(child)
        elif element.text:
            self.line(f"<{element.tag}{_attributes(element.attributes)}>{_text(element.text)}</{element.tag}>")
        else:
            self.empty(element.tag, element.attributes)

    # ---- the document

    def graph(self, model: Model) -> None:
        attributes = {}
        if model.tag == "net":
            # Bodies keep their ids: port maps refer to them.
            model = canonical(model)
            attributes = {"name": model.name, "version": model.version}
        with self.element(model.tag, attributes):
            with self.element("layers"):
                for layer in model.layers:
                    self.layer(model, layer)
            with self.element("edges"):
                for edge in model.edges:
                    self.empty("edge", _edge_attributes(edge))
            for section in model.sections:
                self.verbatim(section)

    def layer(self, model: Model, layer: Layer) -> None:
        header = {"id": layer.id, "name": layer.name, "type": layer.type}
        if layer.version is not None:
            header["version"] = layer.version
        with self.element("layer", {**header, **layer.extra}):
            data = dict(layer.attributes)
            if layer.type == "Const":
                data |= self.constant(payload(model, layer))
            if data:
                self.empty("data", data)
            for section in layer.sections:
                self.verbatim(section)
            self.ports("input", layer.inputs)
            self.ports("output", layer.outputs)
            for body in layer.bodies:
                self.graph(body)

    def ports(self, tag: str, ports: tuple[Port, ...]) -> None:
        if not ports:
            return
        with self.element(tag):
            for port in ports:
                precision = {} if port.precision is None else {"precision": port.precision}
                attributes = {"id": port.id, **precision, **port.attributes}
                if not port.dims and not port.sections:
                    self.empty("port", attributes)
                    continue
                with self.element("port", attributes):
                    for dim in port.dims:
                        self.line(f"<dim>{dim}</dim>")
                    for section in port.sections:
                        self.verbatim(section)

    def constant(self, data: memoryview) -> dict[str, str]:
        """Append a payload to the .bin, once; where it stands."""
        key = sha256(data).digest()
        if key not in self.offsets:
            self.offsets[key] = self.binary.tell()
            self.binary.write(data)
        return {"offset": str(self.offsets[key]), "size": str(len(data))}


def canonical(model: Model) -> Model:
    """The same graph in canonical order: Parameters, other layers after what feeds them, Results; ids 0..n-1; edges sorted.

    Raises IRError where there is a cycle or an id stands twice.
    """
    position = {layer.id: i for i, layer in enumerate(model.layers)}
    if len(position) != len(model.layers):
        raise _error(model, "an id stands on more than one layer")
    followers: dict[int, list[int]] = {i: [] for i in position}
    waiting_for = dict.fromkeys(position, 0)
    for edge in model.edges:
        if edge.from_layer not in position or edge.to_layer not in position:
            raise _error(model, f"the edge {edge.from_layer} -> {edge.to_layer} refers to a layer that is not there")
        followers[edge.from_layer].append(edge.to_layer)
        waiting_for[edge.to_layer] += 1
    rank = {"Parameter": 0, "Result": 2}
    key = {layer.id: (rank.get(layer.type, 1), position[layer.id], layer.id) for layer in model.layers}
    ready = [key[i] for i, count in waiting_for.items() if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        layer_id = heappop(ready)[-1]
        order.append(layer_id)
        for follower in followers[layer_id]:
            waiting_for[follower] -= 1
            if waiting_for[follower] == 0:
                heappush(ready, key[follower])
    if len(order) != len(position):
        raise _error(model, "the graph has a cycle")
    new_id = {old: new for new, old in enumerate(order)}
    layers = tuple(replace(model.layer_by_id[i], id=new_id[i]) for i in order)
    edges = (replace(edge, from_layer=new_id[edge.from_layer], to_layer=new_id[edge.to_layer]) for edge in model.edges)
    # By from-layer only, and stable: OpenVINO's own writer leaves the rest in no order.
    return replace(model, layers=layers, edges=tuple(sorted(edges, key=lambda edge: edge.from_layer)))


def _edge_attributes(edge: Edge) -> dict[str, int]:
    ends = (edge.from_layer, edge.from_port, edge.to_layer, edge.to_port)
    return dict(zip(("from-layer", "from-port", "to-layer", "to-port"), ends, strict=True))


def _attributes(attributes: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(_checked(str(value)))}" for name, value in attributes.items())


def _text(text: str) -> str:
    return escape(_checked(text), {"\r": "&#13;"})


def _checked(text: str) -> str:
    if match := _NOT_XML.search(text):
        raise IRError(Fault.SYNTAX, f"the name or text {text[:40]!r} holds {match[0]!r}, which XML cannot hold")
    return text


def _error(model: Model, reason: str) -> IRError:
    return IRError(Fault.STRUCTURE, reason, path=model.path, line=model.line)
