"""Writer of a Model as .xml and .bin in a canonical form.

Parameters come first, Results last, other layers in topological order between them. Ids are 0 to n-1. Edges are sorted by
source layer. Identical payloads are stored once.
"""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import sha256
from heapq import heapify, heappop, heappush
from io import BytesIO
from pathlib import Path
from typing import IO

from lxml import etree

from ov_gather.ir.constants import payload
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.tree import element
from ov_gather.system.files import replacing_all


def write_ir(model: Model, path: str | os.PathLike[str]) -> None:
    """Write the .xml to `path`, and the .bin of the same stem beside it, even if it is empty, since tools expect a pair.

    Both replace existing files only when complete, so an error leaves nothing behind.

    Raises:
        IRError: the graph has a cycle or a duplicate id, the payload of a Const cannot be read, or XML does not allow a name.
        OSError: the files cannot be written.
        ValueError: `path` ends in .bin.
    """
    path = Path(path)
    if path.suffix == ".bin":
        raise ValueError(f"{path}: the .bin has this name; give the .xml another")
    with replacing_all([path.with_suffix(".bin"), path]) as (bin_file, xml_file):
        _write(model, xml_file, bin_file)


def to_bytes(model: Model) -> tuple[bytes, bytes]:
    """Return the content of the .xml and of the .bin. Raises IRError as `write_ir` does."""
    xml, binary = BytesIO(), BytesIO()
    _write(model, xml, binary)
    return xml.getvalue(), binary.getvalue()


def _write(model: Model, xml: IO[bytes], binary: IO[bytes]) -> None:
    payloads = _Payloads(binary)
    xml.write(b'<?xml version="1.0"?>\n')
    with etree.xmlfile(xml, encoding="utf-8") as file:
        if model.is_fragment:
            _append(file, 0, payloads.placed(model, model.layers[0]).to_element())
        else:
            _write_net(file, canonical(model), payloads)
    xml.write(b"\n")


def _write_net(file: etree._IncrementalFileWriter, model: Model, payloads: _Payloads) -> None:
    """Write layer by layer, so that only one layer, with its bodies, is in memory as XML."""
    net = element("net", model.header)
    with file.element(net.tag, dict(net.attrib.items())):
        _break(file, 1)
        with file.element("layers"):
            for layer in model.layers:
                _break(file, 2)
                _append(file, 2, payloads.placed(model, layer).to_element())
            _break(file, 1)
        _break(file, 1)
        with file.element("edges"):
            for edge in model.edges:
                _break(file, 2)
                file.write(edge.to_element())
            _break(file, 1)
        for section in model.sections:
            _break(file, 1)
            _append(file, 1, section.to_element())
        _break(file, 0)


def _break(file: etree._IncrementalFileWriter, depth: int) -> None:
    file.write("\n" + "\t" * depth)


def _append(file: etree._IncrementalFileWriter, depth: int, made: etree._Element) -> None:
    etree.indent(made, "\t", level=depth)
    file.write(made)


class _Payloads:
    """The .bin being written, with each distinct payload stored once."""

    def __init__(self, binary: IO[bytes]) -> None:
        self._binary = binary
        self._offsets: dict[bytes, int] = {}

    def placed(self, model: Model, layer: Layer) -> Layer:
        """Append the payloads of a layer and its bodies to the .bin; return the layer with the new offsets and sizes."""
        if layer.type == "Const":
            layer = replace(layer, attributes={**layer.attributes, **self._append(payload(model, layer))})
        if layer.bodies:
            # Bodies keep their ids: port maps refer to them.
            bodies = (replace(body, layers=tuple(self.placed(body, inner) for inner in body.layers)) for body in layer.bodies)
            layer = replace(layer, bodies=tuple(bodies))
        return layer

    def _append(self, data: memoryview) -> dict[str, str]:
        key = sha256(data).digest()
        if key not in self._offsets:
            self._offsets[key] = self._binary.tell()
            self._binary.write(data)
        return {"offset": str(self._offsets[key]), "size": str(len(data))}


def canonical(model: Model) -> Model:
    """Sort a graph topologically, Parameters first and Results last; renumber ids as 0..n-1 and sort edges.

    Raises IRError if there is a cycle or a duplicate id.
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
    # Sort edges by from-layer only, and stably, as OpenVINO's own writer does.
    return replace(model, layers=layers, edges=tuple(sorted(edges, key=lambda edge: edge.from_layer)))


def _error(model: Model, reason: str) -> IRError:
    return IRError(Fault.STRUCTURE, reason, Location(model.path, model.line))
