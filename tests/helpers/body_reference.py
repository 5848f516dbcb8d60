"""What the specifications of If, Loop, TensorIterator and states say that a model computes, with NumPy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ov_gather.graph.protocol import LOOPS
from ov_gather.ir.bodies import BODIES, Entry, back_edges, entries
from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import I32, I64, by_name
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
    if len(graph.links) < len(graph.edges) or not graph.results:
        raise UndefinedError("an edge leads nowhere, or nothing comes out")
    fed = {parameter.id: _fed(parameter, given) for parameter in graph.parameters}
    values: Values = {}

    def value(layer: Layer, position: int) -> Array:
        source = graph.producer(layer, layer.inputs[position])
        if source is None:
            raise UndefinedError(f"{layer} has an input without a producer")
        key = source[0].id, source[1].id
        if key not in values:
            produced = _outputs(graph, source[0], fed, value)
            values.update({(source[0].id, port.id): array for port, array in zip(source[0].outputs, produced, strict=True)})
        return values[key]

    by_id = {layer.id: value(layer, 0) for layer in graph.results}
    return list(by_id.values()), by_id


def _outputs(graph: Model, layer: Layer, fed: dict[int, Array], value) -> list[Array]:
    if layer.type == "Parameter":
        return [fed[layer.id]]
    if layer.type == "Const":
        return [constant(graph, layer)]
    inputs = [value(layer, position) for position in range(len(layer.inputs))]
    if layer.type in LOOPS:
        return _iterated(layer, inputs)
    if layer.type == "If":
        return _branch(layer, inputs, bool(_only(inputs[0], np.bool_)))
    return [_COMPUTED[layer.type](layer, *inputs)]


def _fed(parameter: Layer, given: dict[int, Array]) -> Array:
    array, kind, shape = given.get(parameter.id), parameter.declared_type, parameter.declared_shape
    if array is None or kind is None or shape is None:
        raise UndefinedError(f"{parameter} is not fed")
    if array.dtype != kind.dtype or array.shape not in shape:
        raise UndefinedError(f"{parameter} is fed {array.dtype} of {array.shape}")
    return array


def _mapped(layer: Layer, body: Model) -> tuple[list[Entry], list[Entry]]:
    """Return the entries for inputs and for outputs. Raises UndefinedError if they are ambiguous, or lead nowhere."""
    tags = [section.tag for section in layer.sections] + [body.tag for body in layer.bodies]
    mapped = list(entries(layer, body))
    inputs, outputs = ([entry for entry in mapped if entry.is_input is is_input] for is_input in (True, False))
    inner = [entry.inner.id for entry in inputs if entry.inner and entry.inner.type == "Parameter"]
    results = [entry for entry in outputs if entry.inner and entry.inner.type == "Result"]
    outer = [entry.port.id for entry in outputs if entry.port]
    is_clear = len(set(tags)) == len(tags) and sorted(inner) == sorted(parameter.id for parameter in body.parameters)
    if not is_clear or len(inner) < len(inputs) or len(results) < len(outputs):
        raise UndefinedError("an entry of the port map leads nowhere, or two to one place")
    if sorted(outer) != sorted(port.id for port in layer.outputs):
        raise UndefinedError("an output is not mapped once")
    purposes = [(entry.purpose, entry.element.tag) for entry in mapped if entry.purpose is not None]
    allowed = [] if layer.type != "Loop" else [("current_iteration", "input"), ("execution_condition", "output")]
    if any(one not in allowed for one in purposes) or len(set(purposes)) < len(purposes):
        raise UndefinedError("a purpose is unknown, or twice")
    without_port = [entry.element.attributes.get("external_port_id") == "-1" for entry in mapped]
    if without_port != [entry.purpose is not None for entry in mapped] or without_port != [not entry.port for entry in mapped]:
        raise UndefinedError("an entry has no port")
    if any(entry.is_sliced and (layer.type == "If" or entry.purpose is not None) for entry in mapped):
        raise UndefinedError("a slice of what is whole")
    return inputs, outputs


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
    mapped = {body.tag: (body, *_mapped(layer, body)) for body in layer.bodies}
    made = {}
    for tag, (body, fed, returned) in mapped.items():  # the one that is not chosen is judged, too
        _, results = _executed(body, {entry.inner.id: inputs[entry.position] for entry in fed})
        made[tag] = {entry.port.id: results[entry.inner.id] for entry in returned}
    chosen = made[BODIES["If"].tags[not condition]]
    return [chosen[port.id] for port in layer.outputs]


def _iterated(layer: Layer, inputs: list[Array]) -> list[Array]:
    (body,) = layer.bodies
    fed, returned = _mapped(layer, body)
    slices = {entry.inner.id: _slices(entry, inputs[entry.position]) for entry in fed if entry.is_sliced}
    state = {entry.inner.id: inputs[entry.position] for entry in fed if not entry.is_sliced and entry.port}
    counters = [entry.inner for entry in fed if entry.purpose]
    carried = _back_edges(layer, body, state)
    lengths = {len(parts) for parts in slices.values()}
    if layer.type == "Loop":
        trips, go_on = _only(inputs[0], np.integer), _only(inputs[1], np.bool_)
        trips = _MOST if trips < 0 else trips
        (condition,) = (entry.inner.id for entry in returned if entry.purpose)
    else:
        (trips,), go_on, condition = lengths, True, None
    made: list[dict[int, Array]] = []
    while len(made) < trips and go_on:
        i = len(made)
        if any(i >= length for length in lengths) or i >= _MOST - 1:
            raise UndefinedError("more iterations than slices")
        given = state | {inner: parts[i] for inner, parts in slices.items()}
        _, results = _executed(body, given | {inner.id: _number(inner, i) for inner in counters})
        made.append(results)
        state |= {parameter: results[result] for parameter, result in carried.items()}
        go_on = condition is None or _only(results[condition], np.bool_)
    return [_given_out(next(entry for entry in returned if entry.port is port), made) for port in layer.outputs]


def _back_edges(layer: Layer, body: Model, state: dict[int, Array]) -> dict[int, int]:
    """Return the id of the Result for each Parameter at a back edge."""
    edges = list(back_edges(layer, body))
    found = {parameter.id: result.id for edge, result, parameter in edges if result and parameter and edge.tag == "edge"}
    results = {result.id for result in body.results}
    if len(found) < len(edges) or not found.keys() <= state.keys() or not set(found.values()) <= results:
        raise UndefinedError("a back edge leads nowhere")
    return found


def _number(parameter: Layer, i: int) -> Array:
    """Return the number of an iteration, of the type and shape that a Parameter declares."""
    if parameter.declared_type not in (I32, I64):
        raise UndefinedError(f"{parameter} is no integer")
    return np.full(parameter.declared_shape.sizes, i, parameter.declared_type.dtype)


def _only(array: Array, kind: type[np.generic]) -> int:
    if array.size != 1 or array.ndim > 1 or not np.issubdtype(array.dtype, kind):
        raise UndefinedError(f"one element is needed, not {array.dtype} of {array.shape}")
    return int(array.reshape(-1)[0])


def _slices(entry: Entry, array: Array) -> list[Array]:
    slicing = entry.slicing
    size = array.shape[slicing.axis]
    first, last = (end + size + 1 if end < 0 else end for end in (slicing.start, slicing.end))
    if not slicing.stride or slicing.part_size < 1:
        raise UndefinedError("strides or slices of nothing")
    if not (0 <= first <= size and 0 <= last <= size) or (last - first) % slicing.stride:
        raise UndefinedError("the strides do not lead from start to end")
    parts = []
    for start in range(first, last, slicing.stride):
        low = start if slicing.stride > 0 else start - slicing.part_size
        if low < 0 or low + slicing.part_size > size:
            raise UndefinedError("a slice lies outside the axis")
        parts.append(np.take(array, range(low, low + slicing.part_size), slicing.axis))
    if not parts:
        raise UndefinedError("no slice")
    return parts


def _given_out(entry: Entry, made: list[dict[int, Array]]) -> Array:
    if not made:
        raise UndefinedError("no iteration")
    arrays = [results[entry.inner.id] for results in made]
    slicing = entry.slicing
    if slicing is None:
        return arrays[-1]
    if any(array.shape[slicing.axis] != slicing.part_size for array in arrays) or abs(slicing.stride) != slicing.part_size:
        raise UndefinedError("the slices do not follow one another")
    joined = np.concatenate(arrays[:: 1 if slicing.stride > 0 else -1], slicing.axis)
    size = joined.shape[slicing.axis]
    first, last = (end + size + 1 if end < 0 else end for end in (slicing.start, slicing.end))
    if (first, last) != ((0, size) if slicing.stride > 0 else (size, 0)):
        raise UndefinedError("the slices do not lead from start to end")
    return joined
