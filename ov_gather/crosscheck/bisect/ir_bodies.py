"""Extraction of the body of an IR's If, Loop or TensorIterator as a separate model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import ITERATION, Array, Joined, ObservedBody, Origin, Sliced, SliceOrigin
from ov_gather.crosscheck.bisect.graphs import Value, ir_graph
from ov_gather.ir.model import Layer, Model


def ir_body(model: Model, layer: Layer, array: Array) -> ObservedBody | None:
    """Extract the body of a layer; None for other layers, and if an input is unknown."""
    sources = {port.id: source for port in layer.inputs if (source := model.producer(layer, port))}
    outside: dict[str, Value] = {str(i): (source.id, port.id) for i, (source, port) in sources.items()}
    first = array(outside[str(layer.inputs[0].id)]) if layer.type in ("If", "Loop") else None
    if layer.type not in ("If", "Loop", "TensorIterator") or (layer.type == "If" and first is None):
        return None
    prefix = "" if layer.type != "If" else "then_" if _first(first) else "else_"
    body = next(body for body in layer.bodies if body.tag == f"{prefix}body")
    names = {str(inner.id): inner for inner in body.of_type("Parameter")}
    inputs: dict[str, NDArray[Any]] = {}
    origins: dict[str, Origin] = {}
    sliced: dict[str, Sliced] = {}
    for entry in _children(layer, f"{prefix}port_map", "input"):
        inner, given = names[entry["internal_layer_id"]], outside.get(entry["external_port_id"])
        if entry.get("purpose") == "current_iteration":
            inputs[inner.name], origins[inner.name] = np.zeros(inner.outputs[0].dims, np.int64), ITERATION
            continue
        found = None if given is None else array(given)
        if given is None or found is None:
            return None
        if "axis" in entry:
            pieces = _sliced(found, entry)
            if pieces is None or not pieces.count:
                return None
            found, sliced[inner.name] = pieces[0], pieces
        inputs[inner.name], origins[inner.name] = found, SliceOrigin(given) if "axis" in entry else given
    if len(inputs) < len(names):
        return None
    whole = replace(body, tag="net", name=layer.name, version=model.version, weights=model.weights, path=model.path)
    ordered = list(ir_graph(whole).inputs)
    counts = [pieces.count for pieces in sliced.values()]
    if layer.type == "Loop":
        counts.append(_first(first) if first is not None and _first(first) >= 0 else sys.maxsize)
    results = {inner.id: value for inner, value in _results(whole)}
    carried: dict[str, Value] = {
        names[edge["to-layer"]].name: results[int(edge["from-layer"])] for edge in _children(layer, "back_edges", "edge")
    }
    conditions = [
        results[int(entry["internal_layer_id"])]
        for entry in _children(layer, "port_map", "output")
        if entry.get("purpose") == "execution_condition"
    ]
    entries: dict[Value, Mapping[str, str]] = {
        (layer.id, int(entry["external_port_id"])): entry
        for entry in _children(layer, f"{prefix}port_map", "output")
        if entry["external_port_id"] != "-1"
    }
    return ObservedBody(
        whole,
        {name: inputs[name] for name in ordered},
        origins,
        min(counts, default=1),
        0,
        sliced,
        carried,
        conditions[0] if conditions else None,
        {value: results[int(entry["internal_layer_id"])] for value, entry in entries.items()},
        {value: _joined(entry) for value, entry in entries.items() if "axis" in entry},
    )


def _first(array: NDArray[Any] | None) -> int:
    assert array is not None
    return int(array.reshape(-1)[0])


def _results(body: Model) -> Iterator[tuple[Layer, Value]]:
    """Yield each Result with the value that it uses."""
    for layer, _, source, port in body.links:
        if layer.type == "Result":
            yield layer, (source.id, port.id)


def _children(layer: Layer, section_tag: str, tag: str) -> Iterator[Mapping[str, str]]:
    """Yield the attributes of the elements with a tag in a section of a layer."""
    for section in layer.sections:
        for child in section.children if section.tag == section_tag else ():
            if child.tag == tag:
                yield child.attributes


def _joined(entry: Mapping[str, str]) -> Joined:
    """Parse how the pieces of an output are joined."""
    return Joined(int(entry["axis"]), False, int(entry.get("stride", "1")) < 0)


def _sliced(array: NDArray[Any], entry: Mapping[str, str]) -> Sliced | None:
    """Parse how an array is sliced; None if slices overlap, or leave gaps."""
    axis, size = int(entry["axis"]), int(entry.get("part_size", "1"))
    start, end, stride = (int(entry.get(key, default)) for key, default in (("start", "0"), ("end", "-1"), ("stride", "1")))
    length = array.shape[axis]
    forward = stride > 0 and start == 0 and end in (-1, length)
    backward = stride < 0 and start in (-1, length - 1) and end in (0, -length - 1)
    if abs(stride) != size or not (forward or backward):
        return None
    return Sliced(array, axis, size, backward)
