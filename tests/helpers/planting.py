"""Faults that are planted into IRs: attributes, constants, operands, axes, dropped layers, slices."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ov_gather.crosscheck.bisect.results import Culprit
from ov_gather.ir.bodies import entries
from ov_gather.ir.constants import constant
from ov_gather.ir.model import Element, Layer, Model
from ov_gather.ir.weights import Weights


@dataclass(frozen=True)
class Planted:
    """A model with one fault: the layer that has it, those that use that layer if it is a Const, and what was done."""

    model: Model
    layer: Layer
    users: tuple[Layer, ...]
    what: str


VISIBLE = 1e-2
"""A fault is visible if it changes an output by more than this share of its largest number."""
COMPARISONS = ("Less", "Greater", "LessEqual", "GreaterEqual")
SWAPPED = dict.fromkeys(("Subtract", "Divide", "Power", "MatMul", "Concat", "Mod", "FloorMod", *COMPARISONS), (0, 1))
SWAPPED["Select"] = (1, 2)
ATTRIBUTES: dict[str, list[tuple[str, Callable[[str], str]]]] = {
    "MatMul": [("transpose_b", lambda old: "false" if old == "true" else "true")],
    "MVN": [("eps", lambda old: "1.5")],
    "Elu": [("alpha", lambda old: "0.3")],
    "Clamp": [("max", lambda old: "0.1"), ("min", lambda old: "0.05")],
    "TopK": [("mode", lambda old: "min" if old == "max" else "max")],
    "CumSum": [("exclusive", lambda old: "false" if old == "true" else "true")],
    "AvgPool": [("exclude-pad", lambda old: "false" if old == "true" else "true")],
    "Interpolate": [("mode", lambda old: "nearest" if old != "nearest" else "linear")],
    "ScatterElementsUpdate": [("reduction", lambda old: "none" if old != "none" else "max")],
    "Gelu": [("approximation_mode", lambda old: "TANH" if old != "TANH" else "ERF")],
}
DROPPED = ("Sigmoid", "ReLU", "Abs", "Negative", "Erf", "SoftMax", "Softmax", "LogSoftmax")
"""Not Tanh and Sin, which are nearly the identity for small numbers."""
AXIS_ATTRIBUTES = ("Softmax", "LogSoftmax", "Concat", "GatherElements", "TopK")
GATHERS = ("Gather", "GatherElements")
REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")
AXIS_CONSTANTS = {"Gather": 2, **dict.fromkeys((*REDUCTIONS, "Transpose", "CumSum", "MVN", "Split", "VariadicSplit"), 1)}


def is_visible(right: list[np.ndarray], wrong: list[np.ndarray] | None) -> bool:
    """Return True if an output of the same shape has other numbers, and all are finite."""
    if wrong is None or any(one.shape != other.shape for one, other in zip(right, wrong, strict=True)):
        return False
    for one, other in zip(right, wrong, strict=True):
        one, other = one.astype(np.float64), other.astype(np.float64)
        if np.isfinite(one).all() and np.abs(one - other).max(initial=0) > VISIBLE * np.abs(one).max(initial=1e-30):
            return bool(np.isfinite(other).all())
    return False


def is_named(planted: Planted, culprit: Culprit) -> tuple[bool, int]:
    """Whether the layer with the fault is named, and among how many; a dropped one is a node of the reference."""
    names = {f"{layer.type} '{layer.name}'" for layer in (planted.layer, *planted.users)}
    named = culprit.node in names or any(f"constant '{planted.layer.name}'" in text for text in culprit.constants)
    named = named or culprit.reference_node.endswith(f" '{planted.layer.name}'")
    return named or bool(names & set(culprit.nodes)), 1 if named else len(culprit.nodes)


def candidates(model: Model, kind: str) -> Iterator[Callable[[random.Random], Planted | None]]:
    """Every way to plant a fault of a kind: "attribute", "constant", "operands", "axis", "dropped" or "slices"."""
    for layer in model.layers:
        if kind == "slices":
            for entry in _sliced_entries(layer):
                yield lambda rng, layer=layer, entry=entry: reversed_slices(model, layer, entry)
        if kind == "dropped" and layer.type in DROPPED:
            yield lambda rng, layer=layer: dropped(model, layer)
        if kind == "operands" and layer.type in SWAPPED:
            yield lambda rng, layer=layer: swapped(model, layer)
        if kind == "attribute":
            for name, change in ATTRIBUTES.get(layer.type, []):
                if name in layer.attributes:
                    new = change(layer.attributes[name])
                    yield lambda rng, layer=layer, name=name, new=new: with_attribute(model, layer, name, new)
        if kind == "axis" and layer.type in AXIS_ATTRIBUTES and "axis" in layer.attributes:
            rank = len(layer.outputs[0].dims)
            for axis in range(rank):
                if int(layer.attributes["axis"]) % rank != axis and _is_defined(model, layer, axis):
                    yield lambda rng, layer=layer, axis=axis: with_attribute(model, layer, "axis", str(axis))
        if kind == "axis" and layer.type in AXIS_CONSTANTS:
            yield lambda rng, layer=layer: with_axis(model, layer, AXIS_CONSTANTS[layer.type], rng)
        if kind == "constant" and layer.type == "Const" and layer.attributes["element_type"] in ("f32", "f16"):
            yield lambda rng, layer=layer: with_element(model, layer, rng)


def inner_candidates(model: Model, kind: str) -> Iterator[Callable[[random.Random], Planted | None]]:
    """Every way to plant a fault of a kind into a body, at any depth."""
    for layer in model.layers:
        for position, body in enumerate(layer.bodies):
            inner = replace(body, weights=model.weights)
            for way in (*candidates(inner, kind), *inner_candidates(inner, kind)):
                yield lambda rng, way=way, layer=layer, position=position: _put_back(model, layer, position, way(rng))


def _put_back(model: Model, layer: Layer, position: int, planted: Planted | None) -> Planted | None:
    """Put a body with a fault into its layer."""
    if planted is None:
        return None
    bodies = tuple(planted.model if i == position else body for i, body in enumerate(layer.bodies))
    changed = with_layer(model, replace(layer, bodies=bodies))
    return replace(planted, model=replace(changed, weights=planted.model.weights))


def with_layer(model: Model, changed: Layer) -> Model:
    """Put a layer in the place of the one with its id."""
    return replace(model, layers=tuple(changed if layer.id == changed.id else layer for layer in model.layers))


def with_swapped(model: Model, layer: Layer, one: int, other: int) -> Model:
    """Let two input ports of a layer change places."""
    ports = {one: other, other: one}
    edges = (
        replace(edge, to_port=ports.get(edge.to_port, edge.to_port)) if edge.to_layer == layer.id else edge
        for edge in model.edges
    )
    return replace(model, edges=tuple(edges))


def without(model: Model, layer: Layer) -> Model:
    """Remove a layer; what fed its first input feeds what it fed."""
    source = model.producer(layer, layer.inputs[0])
    assert source is not None
    edges = tuple(
        replace(edge, from_layer=source[0].id, from_port=source[1].id) if edge.from_layer == layer.id else edge
        for edge in model.edges
        if edge.to_layer != layer.id
    )
    return replace(model, edges=edges, layers=tuple(each for each in model.layers if each.id != layer.id))


def swapped(model: Model, layer: Layer) -> Planted:
    """Two operands change places."""
    ports = (layer.inputs[i].id for i in SWAPPED[layer.type])
    return Planted(with_swapped(model, layer, *ports), layer, (), "operands swapped")


def _sliced_entries(layer: Layer) -> list[Element]:
    """The entries of a port map by which iterations take or give slices from the first to the last."""
    found = (entry for body in layer.bodies for entry in entries(layer, body))
    return [entry.element for entry in found if entry.slicing and entry.slicing.stride == 1]


def reversed_slices(model: Model, layer: Layer, entry: Element) -> Planted:
    """Iterations take or give slices from the last to the first."""
    changed = replace(entry, attributes={**entry.attributes, "start": "-1", "end": "0", "stride": "-1"})
    sections = tuple(
        replace(section, children=tuple(changed if child is entry else child for child in section.children))
        for section in layer.sections
    )
    return Planted(with_layer(model, replace(layer, sections=sections)), layer, (), f"{entry.tag} in reverse")


def dropped(model: Model, layer: Layer) -> Planted | None:
    """A layer is gone; its input has its names, too, as where a converter takes the layer for an Identity."""
    source = model.producer(layer, layer.inputs[0])
    assert source is not None
    names = ",".join(filter(None, (port.attributes.get("names", "") for port in (source[1], layer.outputs[0]))))
    ports = tuple(
        replace(port, attributes={**port.attributes, "names": names}) if port.id == source[1].id else port
        for port in source[0].outputs
    )
    planted = with_layer(without(model, layer), replace(source[0], outputs=ports))
    return Planted(planted, layer, (source[0], *uses(model, layer)), "dropped")


def with_attribute(model: Model, layer: Layer, name: str, new: str) -> Planted:
    """An attribute has another value."""
    changed = replace(layer, attributes={**layer.attributes, name: new})
    return Planted(with_layer(model, changed), layer, (), f"{name} {layer.attributes[name]} -> {new}")


def with_axis(model: Model, layer: Layer, position: int, rng: random.Random) -> Planted | None:
    """The constant that says the axes has two of them swapped, or another one."""
    source = model.producer(layer, layer.inputs[position])
    if source is None or source[0].type != "Const" or uses(model, source[0]) != [layer]:
        return None
    array, rank = constant(model, source[0]).copy(), len(layer.inputs[0].dims)
    if layer.type == "Transpose":
        if array.size < 2:
            return None
        i, j = rng.sample(range(array.size), 2)
        array[i], array[j] = array[j], array[i]
    else:
        if rank < 2:
            return None
        flat = array.reshape(-1)
        flat[0] = (flat[0] % rank + rng.randrange(1, rank)) % rank
        if not _is_defined(model, layer, int(flat[0])):
            return None
    planted = with_payload(model, source[0], array)
    return Planted(planted, source[0], (layer,), f"axes {constant(model, source[0]).tolist()} -> {array.tolist()}")


def _is_defined(model: Model, layer: Layer, axis: int) -> bool:
    """Return True if a layer computes the declared shape along an axis, and reads nothing outside of its data.

    Other models give other numbers each time: OpenVINO writes more than it allocated for a body that keeps its shape.
    """
    if layer.type not in GATHERS:
        return True
    indices = model.producer(layer, layer.inputs[1])
    if indices is None or indices[0].type != "Const":
        return False
    data, given = layer.inputs[0].dims, constant(model, indices[0])
    shape = given.shape if layer.type == "GatherElements" else (*data[:axis], *given.shape, *data[axis + 1 :])
    return shape == tuple(layer.outputs[0].dims) and bool(((-data[axis] <= given) & (given < data[axis])).all())


def with_element(model: Model, layer: Layer, rng: random.Random) -> Planted | None:
    """One element of a constant is another number."""
    array = constant(model, layer).copy()
    if not array.size or not np.isfinite(array.astype(np.float64)).all() or np.abs(array).max() > 1e4:
        return None
    position = rng.randrange(array.size)
    flat = array.reshape(-1)
    old = flat[position]
    flat[position] = old + 3 * np.abs(array).max() + 1
    what = f"element {position} of {array.size}: {old} -> {flat[position]}"
    return Planted(with_payload(model, layer, array), layer, tuple(uses(model, layer)), what)


def uses(model: Model, layer: Layer) -> list[Layer]:
    """The layers that take what a layer gives; those behind them where they only convert or reshape a constant."""
    found = [user for user, _, source, _ in model.links if source.id == layer.id]
    passing = [
        user for user in found if user.type in ("Convert", "Reshape", "Unsqueeze", "Transpose") and layer.type == "Const"
    ]
    return list({id(each): each for each in [*found, *(far for user in passing for far in uses(model, user))]}.values())


def with_payload(model: Model, layer: Layer, array: np.ndarray) -> Model:
    """A Const gets another payload, which is appended to the weights, so that no other Const has it."""
    assert model.weights is not None
    data = bytes(model.weights.read(0, model.weights.size()))
    data += bytes(-len(data) % 64)
    attributes = {**layer.attributes, "offset": str(len(data)), "size": str(array.nbytes)}
    changed = with_layer(model, replace(layer, attributes=attributes))
    return replace(changed, weights=Weights(data + np.ascontiguousarray(array).tobytes()))
