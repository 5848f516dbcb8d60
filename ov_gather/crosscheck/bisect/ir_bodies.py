"""Extraction of the body of an IR's If, Loop or TensorIterator as a separate model."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import ITERATION, Array, Joined, ObservedBody, Origin, Sliced, SliceOrigin
from ov_gather.crosscheck.bisect.graphs import Value, ir_graph
from ov_gather.ir.bodies import BODIES, Entry, Slicing, carried, entries
from ov_gather.ir.model import Layer, Model


def ir_body(model: Model, layer: Layer, array: Array) -> ObservedBody | None:
    """Extract the body of a layer; None for other layers, and if an input is unknown."""
    outside = {port.id: (source[0].id, source[1].id) for port in layer.inputs if (source := model.producer(layer, port))}
    first = array(outside[layer.inputs[0].id]) if layer.type in ("If", "Loop") else None
    if layer.type not in BODIES or (layer.type == "If" and first is None):
        return None
    tag = "body" if layer.type != "If" else "then_body" if _first(first) else "else_body"
    body = next(body for body in layer.bodies if body.tag == tag)
    inputs: dict[str, NDArray[Any]] = {}
    origins: dict[str, Origin] = {}
    sliced: dict[str, Sliced] = {}
    mapped = list(entries(layer, body))
    for entry in mapped:
        inner = entry.inner
        if not entry.is_input or inner is None:
            continue
        if entry.purpose == "current_iteration":
            inputs[inner.name], origins[inner.name] = np.zeros(inner.outputs[0].dims, np.int64), ITERATION
            continue
        given, slicing = outside.get(entry.port.id) if entry.port else None, entry.slicing
        found = None if given is None else array(given)
        if given is None or found is None:
            return None
        if slicing:
            pieces = _sliced(found, slicing)
            if pieces is None or not pieces.count:
                return None
            found, sliced[inner.name] = pieces[0], pieces
        inputs[inner.name], origins[inner.name] = found, SliceOrigin(given) if slicing else given
    if len(inputs) < len(body.of_type("Parameter")):
        return None
    whole = replace(body, tag="net", name=layer.name, version=model.version, weights=model.weights, path=model.path)
    ordered = list(ir_graph(whole).inputs)
    counts = [pieces.count for pieces in sliced.values()]
    if layer.type == "Loop":
        counts.append(_first(first) if first is not None and _first(first) >= 0 else sys.maxsize)
    conditions = [entry.value for entry in mapped if entry.purpose == "execution_condition"]
    outputs: dict[Value, Entry] = {(layer.id, entry.port.id): entry for entry in mapped if entry.port and not entry.is_input}
    return ObservedBody(
        whole,
        {name: inputs[name] for name in ordered},
        origins,
        min(counts, default=1),
        0,
        sliced,
        {body.layer_by_id[i].name: value for i, value in carried(layer, body).items()},
        conditions[0] if conditions else None,
        {value: entry.value for value, entry in outputs.items() if entry.value},
        {value: Joined(way.axis, False, way.stride < 0) for value, entry in outputs.items() if (way := entry.slicing)},
    )


def _first(array: NDArray[Any] | None) -> int:
    assert array is not None
    return int(array.reshape(-1)[0])


def _sliced(array: NDArray[Any], slicing: Slicing) -> Sliced | None:
    """Return the slices of an array; None if they overlap, or leave gaps."""
    length, start, end = array.shape[slicing.axis], slicing.start, slicing.end
    forward = slicing.stride > 0 and start == 0 and end in (-1, length)
    backward = slicing.stride < 0 and start in (-1, length - 1) and end in (0, -length - 1)
    if abs(slicing.stride) != slicing.part_size or not (forward or backward):
        return None
    return Sliced(array, slicing.axis, slicing.part_size, backward)
