"""Layers that OpenVINO removes, because they change nothing or undo the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ov_gather.ir.model import Layer, Port
from ov_gather.rules.known.pattern_graph import LAYERS, VIEWS, PatternGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEUTRAL = {"Add": 0, "Subtract": 0, "Multiply": 1, "Divide": 1}
"""The operand with which arithmetic returns the other one: the second, and in a sum or product also the first."""
_OF_EQUAL_SIZE = ("Broadcast", "Concat", "Pad", "Slice", "Split", "Tile", *VIEWS)
"""Operations that may return their first input if it has the shape of the result."""


def kept(graph: PatternGraph, layer: Layer, position: int = 0, *, is_folded: bool = False) -> tuple[Layer, Port] | None:
    """Return what feeds an input, before layers that OpenVINO removes; if they are folded, it removes fewer."""
    source = graph.source(layer, position)
    for _ in range(LAYERS):
        before = before_removed(graph, source[0], is_folded=is_folded) if source else None
        if before is None:
            break
        source = before
    return source


def is_output(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if a layer is an output of the model or body."""
    return any(reader.type == "Result" for port in layer.outputs for reader, _ in graph.readers((layer.id, port.id)))


def returned_input(graph: PatternGraph, layer: Layer, *, is_folded: bool = False) -> int | None:
    """Return the position of the input that a layer returns as it is; None if it may change something.

    `is_folded`: it is computed from constants, and OpenVINO folds 0 + x or Select before it could remove them, but not x + 0.
    """
    given, made = graph.shape(layer), layer.outputs[0].shape
    if layer.type in ("Convert", "ConvertLike"):
        return 0 if graph.type(layer) == str(layer.outputs[0].element_type) else None
    if layer.type in _OF_EQUAL_SIZE:
        return 0 if given.is_static and given == made and not _moves(graph, layer) else None
    if layer.type == "Select" and not is_folded:
        return _selected(graph, layer)
    if layer.type == "Transpose":
        return 0 if _is_identity(graph.constant(layer, 1)) else None
    is_commutative = layer.type in ("Add", "Multiply") and not is_folded
    for position in (0, 1) if is_commutative else (0,) if layer.type in _NEUTRAL else ():
        operand = graph.constant(layer, 1 - position)
        is_neutral = operand is not None and bool((operand == _NEUTRAL[layer.type]).all())
        if is_neutral and (graph.shape(layer, position).dims or ()) == (made.dims or ()):
            return position
    return None


def _selected(graph: PatternGraph, layer: Layer) -> int | None:
    """Return the position of the input that a Select with a constant condition returns; None if it may choose from both."""
    condition = graph.constant(layer, 0)
    if condition is None or (condition.any() and not condition.all()):
        return None
    position = 1 if condition.all() else 2
    return position if graph.shape(layer, position) == layer.outputs[0].shape else None


def _moves(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if a layer whose result has the shape of its input may move elements."""
    if layer.type == "Pad":
        return any(widths is None or bool(widths.any()) for widths in (graph.constant(layer, i) for i in (1, 2)))
    steps = graph.constant(layer, 3) if layer.type == "Slice" else None
    return layer.type == "Slice" and (steps is None or bool((steps < 0).any()))


def before_removed(graph: PatternGraph, layer: Layer, *, is_folded: bool = False) -> tuple[Layer, Port] | None:
    """Return what feeds a layer that OpenVINO removes; None if it stays, as all that are outputs of the model do."""
    if is_output(graph, layer):
        return None
    if (position := returned_input(graph, layer, is_folded=is_folded)) is not None:
        return graph.source(layer, position)
    if is_folded:
        return None
    inner = graph.producer(layer, 0, *(VIEWS if layer.type in VIEWS else (layer.type,)))
    return graph.source(inner) if inner and _undoes(graph, layer, inner) else None


def _undoes(graph: PatternGraph, layer: Layer, inner: Layer) -> bool:
    """Return True if a layer behind one of its kind returns the first input of that one."""
    if layer.type == "Transpose":
        order, before = graph.constant(layer, 1), graph.constant(inner, 1)
        if order is None or before is None or order.size != before.size or order.dtype.kind not in "iu":
            return False
        return _is_identity(before.ravel().take(order.ravel(), mode="clip"))
    given = graph.shape(inner)
    return layer.type == "Negative" or (layer.type in VIEWS and given.is_static and given == layer.outputs[0].shape)


def _is_identity(order: NDArray[Any] | None) -> bool:
    return order is not None and order.ravel().tolist() == list(range(order.size))
