"""Layers that OpenVINO removes, because they change nothing or undo the one before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ov_gather.graph.protocol import Key, Node
from ov_gather.plugin.pattern_graph import LAYERS, VIEWS, PatternGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEUTRAL = {"Add": 0, "Subtract": 0, "Multiply": 1, "Divide": 1}
"""The operand with which arithmetic returns the other one: the second, and in a sum or product also the first."""
_OF_EQUAL_SIZE = ("Broadcast", *VIEWS)
"""Operations that return their first input if it has the shape of the result."""


def before_folded(graph: PatternGraph, node: Node, position: int) -> Key | None:
    """Return what feeds an input that is computed from constants, before layers that OpenVINO removes rather than folds."""
    source = graph.source(node, position)
    for _ in range(LAYERS):
        found = None if source is None else graph.graph.producer(source)
        returned = None if found is None else returned_input(graph, found, is_folded=True)
        inner = graph.producer(found, 0, "Reshape") if found and found.type == "Reshape" else None
        if found and returned is not None:
            source = graph.source(found, returned)
        elif found and inner and _undoes(graph, found, inner):
            source = graph.source(inner)
        else:
            break
    return source


def producer_before_removed(graph: PatternGraph, node: Node, position: int = 0, *others: str) -> Node | None:
    """Return the node that feeds an input, before layers that OpenVINO removes, and before those of other types."""
    source = graph.source(node, position)
    for _ in range(LAYERS):
        found = None if source is None else graph.graph.producer(source)
        if found is None:
            return None
        before = graph.source(found) if found.type in others else before_removed(graph, found)
        if before is None:
            return found
        source = before
    return None


def returned_input(graph: PatternGraph, node: Node, *, is_folded: bool = False) -> int | None:
    """Return the position of the input that a node returns as it is; None if it may change something.

    `is_folded`: it is computed from constants, and OpenVINO folds 0 + x or Select before it could remove them, but not x + 0.
    """
    made = graph.made(node)
    if node.type in ("Convert", "ConvertLike"):
        return 0 if graph.type(node) == graph.made_type(node) else None
    if node.type in _OF_EQUAL_SIZE:
        is_own = node.type in VIEWS and _has_shape_of(graph, node, graph.source(node))
        return 0 if is_own or _keeps_shape(graph, node) else None
    if node.type in _ALL_OF_IT:
        return 0 if _ALL_OF_IT[node.type](graph, node) else None
    if node.type == "Select" and not is_folded:
        return _selected(graph, node)
    if node.type == "Transpose":
        return 0 if graph.shape(node).rank == 1 or _is_identity(graph.constant(node, 1)) else None
    is_commutative = node.type in ("Add", "Multiply") and not is_folded
    for position in (0, 1) if is_commutative else (0,) if node.type in _NEUTRAL else ():
        operand = graph.constant(node, 1 - position)
        is_neutral = operand is not None and bool((operand == _NEUTRAL[node.type]).all())
        if is_neutral and (graph.shape(node, position).dims or ()) == (made.dims or ()):
            return position
    return None


def _selected(graph: PatternGraph, node: Node) -> int | None:
    """Return the position of the input that a Select with a constant condition returns; None if it may choose from both."""
    condition = graph.constant(node, 0)
    if condition is None or (condition.any() and not condition.all()):
        return None
    position = 1 if condition.all() else 2
    made = graph.made(node)
    return position if made.is_static and graph.shape(node, position) == made else None


def _is_single(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Concat of one operand beside empty ones, or a Split into one part."""
    return len(node.inputs if node.type == "Concat" else node.outputs) == 1 or _keeps_shape(graph, node)


def _has_shape_of(graph: PatternGraph, node: Node, key: Key | None) -> bool:
    """Return True if the second input is the shape of a tensor."""
    shape = graph.viewed(node, 1, ("Convert",))
    found = None if shape is None else graph.graph.producer(shape)
    return found is not None and found.type == "ShapeOf" and graph.source(found) == key


def _keeps_shape(graph: PatternGraph, node: Node) -> bool:
    """Return True if the sizes, maybe computed from other sizes, are known, and the node changes none."""
    given = graph.shape(node)
    return given.is_static and given == graph.made(node)


def _is_not_padded(graph: PatternGraph, node: Node) -> bool:
    begin, end = (graph.constant(node, i) for i in (1, 2))
    if begin is not None and end is not None:
        return not begin.any() and not end.any()
    return _keeps_shape(graph, node)


def _is_whole(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Slice of all elements in their order."""
    given = graph.shape(node)
    if given.is_static and given != graph.made(node):
        return False
    starts, stops, steps = (graph.constant(node, i) for i in (1, 2, 3))
    if steps is None or (steps < 1).any():
        return False
    if given.is_static:
        return True
    if starts is None or starts.any() or stops is None:
        return False
    return {*stops.ravel().tolist()} <= {_END.get(graph.type(node, 2))} and bool((steps == 1).all())


def _is_once(graph: PatternGraph, node: Node) -> bool:
    """Return True for a Tile that repeats nothing, and adds no axis."""
    repeats, rank = graph.constant(node, 1), graph.shape(node).rank
    if repeats is None:
        return _keeps_shape(graph, node)
    return bool((repeats == 1).all()) and rank is not None and repeats.size <= rank


_END = {"i32": 2**31 - 1, "i64": 2**63 - 1}
"""The stop of a Slice that OpenVINO takes for the end of an axis of unknown size, by element type: no other one."""
_ALL_OF_IT: dict[str, Callable[[PatternGraph, Node], bool]] = {
    "Concat": _is_single,
    "Identity": lambda graph, node: True,
    "Pad": _is_not_padded,
    "Slice": _is_whole,
    "Split": _is_single,
    "Tile": _is_once,
}
"""Operations that return their first input if this holds."""


def before_removed(graph: PatternGraph, node: Node) -> Key | None:
    """Return what feeds a node that OpenVINO removes; None if it stays, as an output of the model does."""
    before, position = None, returned_input(graph, node)
    if position is not None:
        before = graph.source(node, position)
    elif inner := graph.producer(node, 0, *(VIEWS if node.type in VIEWS else (node.type,))):
        before = graph.source(inner) if _undoes(graph, node, inner) else None
    return None if before is None or graph.is_output(node) else before  # who reads it, is asked last: it takes longest


def _undoes(graph: PatternGraph, node: Node, inner: Node) -> bool:
    """Return True if a node behind one of its kind returns the first input of that one."""
    if node.type == "Transpose":
        order, before = graph.constant(node, 1), graph.constant(inner, 1)
        if order is None or before is None or order.size != before.size or order.dtype.kind not in "iu":
            return False
        return _is_identity(before.ravel().take(order.ravel(), mode="clip"))
    if node.type in VIEWS:
        given = graph.shape(inner)
        is_equal = given.is_static and given == graph.made(node)
        return is_equal or _is_squeezed_again(graph, node, inner)
    return node.type == "Negative"


def _is_squeezed_again(graph: PatternGraph, node: Node, inner: Node) -> bool:
    """Return True for a Squeeze of the axes that an Unsqueeze has inserted."""
    squeezed, inserted = graph.constant(node, 1), graph.constant(inner, 1)
    if (inner.type, node.type) != ("Unsqueeze", "Squeeze") or squeezed is None or inserted is None:
        return False
    return bool(squeezed.ravel().tolist() == inserted.ravel().tolist())


def _is_identity(order: NDArray[Any] | None) -> bool:
    """Return True if an order moves no axis; one without elements reverses the axes."""
    return order is not None and order.size > 0 and order.ravel().tolist() == list(range(order.size))
