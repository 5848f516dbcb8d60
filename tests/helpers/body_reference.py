"""What the specifications of If, Loop, TensorIterator and states say that a model computes, with NumPy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ov_gather.graph.protocol import LOOPS
from ov_gather.ir.bodies import BODIES, Entry, back_edges, entries
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import by_name
from ov_gather.ir.model import Layer, Model

Array = np.ndarray
Values = dict[tuple[int, int], Array]
_MOST = 100
"""More iterations than any model here needs."""


class UndefinedError(Exception):
    """The specifications do not say what the model computes."""


def computed(model: Model, feed: Iterable[Array]) -> list[Array]:
    """Return the outputs of a model. Raises UndefinedError, or any error of NumPy."""
    return _executed(model, dict(zip((layer.id for layer in model.parameters), feed, strict=True)))[0]


def _executed(graph: Model, given: dict[int, Array]) -> tuple[list[Array], dict[int, Array]]:
    """Return what the Results of a graph read, in their order, and by id."""
    values: Values = {}

    def value(layer: Layer, position: int) -> Array:
        source = graph.producer(layer, layer.inputs[position])
        if source is None:
            raise UndefinedError(f"{layer} has an input without a producer")
        key = source[0].id, source[1].id
        if key not in values:
            produced = _outputs(graph, source[0], given, value)
            values.update({(source[0].id, port.id): array for port, array in zip(source[0].outputs, produced, strict=True)})
        return values[key]

    by_id = {layer.id: value(layer, 0) for layer in graph.results}
    return list(by_id.values()), by_id


def _outputs(graph: Model, layer: Layer, given: dict[int, Array], value) -> list[Array]:
    if layer.type == "Parameter":
        if layer.id not in given:
            raise UndefinedError(f"{layer} is not fed")
        return [given[layer.id]]
    if layer.type == "Const":
        return [constant(graph, layer)]
    inputs = [value(layer, position) for position in range(len(layer.inputs))]
    if layer.type in LOOPS:
        return _iterated(layer, inputs)
    if layer.type == "If":
        (condition,) = inputs[0].reshape(-1)
        return _branch(layer, inputs, bool(condition))
    return [_COMPUTED[layer.type](layer, *inputs)]


def _converted(layer: Layer, x: Array) -> Array:
    found = by_name(layer.attributes["destination_type"])
    assert found is not None
    return x.astype(found.dtype)


def _initial(layer: Layer, *initial: Array) -> Array:
    kind = by_name(layer.attributes["variable_type"])
    assert kind is not None
    shape = [int(size) for size in layer.attributes["variable_shape"].split(",")]
    return initial[0] if initial else np.zeros(shape, kind.dtype)


def _gathered(layer: Layer, data: Array, indices: Array) -> Array:
    return np.take_along_axis(data, indices.astype(np.int64), int(layer.attributes["axis"]))


def _same_types(work):
    def checked(_: Layer, x: Array, y: Array) -> Array:
        if x.dtype != y.dtype:
            raise UndefinedError("the operands have different types")
        return work(x, y)

    return checked


_COMPUTED = {
    "Add": _same_types(np.add),
    "Convert": _converted,
    "GatherElements": _gathered,
    "Less": _same_types(np.less),
    "Multiply": _same_types(np.multiply),
    "Negative": lambda _, x: -x,
    "ReLU": lambda _, x: np.maximum(x, 0),
    "ReadValue": _initial,
    "Squeeze": lambda _, x, axes: x.squeeze(tuple(map(int, axes.reshape(-1)))),
    "Unsqueeze": lambda _, x, axes: np.expand_dims(x, tuple(map(int, axes.reshape(-1)))),
}


def _branch(layer: Layer, inputs: list[Array], condition: bool) -> list[Array]:
    body = next(body for body in layer.bodies if body.tag == BODIES["If"].tags[not condition])
    mapped = list(entries(layer, body))
    given = {entry.inner.id: inputs[entry.position] for entry in mapped if entry.is_input}
    _, results = _executed(body, given)
    by_port = {entry.port.id: results[entry.inner.id] for entry in mapped if not entry.is_input}
    return [by_port[port.id] for port in layer.outputs]


def _iterated(layer: Layer, inputs: list[Array]) -> list[Array]:
    (body,) = layer.bodies
    mapped = list(entries(layer, body))
    slices = {entry.inner.id: _slices(entry, inputs[entry.position]) for entry in mapped if entry.is_input and entry.is_sliced}
    state = {
        entry.inner.id: inputs[entry.position] for entry in mapped if entry.is_input and not entry.is_sliced and entry.port
    }
    counters = [entry.inner.id for entry in mapped if entry.is_input and entry.purpose == "current_iteration"]
    lengths = {len(parts) for parts in slices.values()}
    if layer.type == "Loop":
        ((trips,), (go_on,)) = (inputs[0].reshape(-1), inputs[1].reshape(-1))
        trips = _MOST if trips < 0 else int(trips)
        (condition,) = (entry.inner.id for entry in mapped if not entry.is_input and entry.purpose == "execution_condition")
    else:
        (trips,), go_on, condition = lengths, True, None
    made: list[dict[int, Array]] = []
    while len(made) < trips and go_on:
        i = len(made)
        if any(i >= length for length in lengths) or i >= _MOST - 1:
            raise UndefinedError("more iterations than slices")
        given = state | {inner: parts[i] for inner, parts in slices.items()}
        _, results = _executed(body, given | {inner: np.array(i) for inner in counters})
        made.append(results)
        state |= {parameter.id: results[result.id] for _, result, parameter in back_edges(layer, body)}
        go_on = condition is None or bool(results[condition].reshape(-1)[0])
    if layer.type != "Loop" and len(lengths) != 1:
        raise UndefinedError("no number of iterations")
    return [_given_out(next(e for e in mapped if not e.is_input and e.port is port), made) for port in layer.outputs]


def _slices(entry: Entry, array: Array) -> list[Array]:
    slicing = entry.slicing
    size = array.shape[slicing.axis]
    first, last = (end + size + 1 if end < 0 else end for end in (slicing.start, slicing.end))
    starts = range(first, last, slicing.stride)
    parts = []
    for start in starts:
        low = start if slicing.stride > 0 else start - slicing.part_size
        if low < 0 or low + slicing.part_size > size:
            raise UndefinedError("a slice lies outside the axis")
        parts.append(np.take(array, range(low, low + slicing.part_size), slicing.axis))
    return parts


def _given_out(entry: Entry, made: list[dict[int, Array]]) -> Array:
    if not made:
        raise UndefinedError("no iteration")
    arrays = [results[entry.inner.id] for results in made]
    slicing = entry.slicing
    return arrays[-1] if slicing is None else np.concatenate(arrays[:: 1 if slicing.stride > 0 else -1], slicing.axis)
