"""Symbols for dynamic dimensions: two that are equal for all inputs get the same symbol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from ov_gather.acceleration.graph import axis_of, constant, dims, identity, is_one, operation, same
from ov_gather.acceleration.operators import is_concat, is_converted, op_of
from ov_gather.extension.python_api import Dimension, Model, Node, Output, PartialShape, Symbol
from ov_gather.graph.openvino import bodies
from ov_gather.ops.spec import MAX_RANK
from ov_gather.ops.table import OpKind, Selection

_Sizes = dict[tuple[int, int], list[Dimension | None]]
"""For each shape vector or scalar, by `identity`: the dynamic dimension that each element holds, or None."""


@contextmanager
def symbols(model: Model) -> Iterator[None]:
    """Assign symbols to the dynamic dimensions of the inputs and propagate them by shape inference; remove them on exit."""
    shapes = {
        parameter: PartialShape(parameter.get_partial_shape())
        for parameter in model.get_parameters()
        if parameter.get_partial_shape().is_dynamic and parameter.get_partial_shape().rank.is_static
    }
    if not shapes:
        yield
        return
    for parameter, shape in shapes.items():
        parameter.set_partial_shape(_named(shape))
    sizes: _Sizes = {}
    for node in model.get_ordered_ops():
        _infer(node, sizes)
        sizes.update((identity(value), _held(value, sizes)) for value in node.outputs() if _may_hold_sizes(value))
    try:
        yield
    finally:
        for parameter, shape in shapes.items():
            parameter.set_partial_shape(shape)
        model.validate_nodes_and_infer_types()


def _named(shape: PartialShape) -> PartialShape:
    named = PartialShape(shape)
    for dim in named:
        if dim.is_dynamic and not dim.has_symbol():
            dim.set_symbol(Symbol())
    return named


def _infer(node: Node, sizes: _Sizes) -> None:
    """Infer shapes as OpenVINO does, with corrections of four errors.

    GatherElements-6 assumes that data and indices are equal off the axis. Broadcast and Tile lose symbols of computed target
    sizes. A dimension without a symbol is taken for equal to the one it is broadcast with, although it may be 1, so that each
    gets one. Select does the same with its condition.
    """
    shape = _of_gather(node) if operation(node) == "GatherElements-6" else None
    if shape is None and not bodies(node):
        node.validate_and_infer_types()
        shape = _corrected(node, sizes)
    for i, value in enumerate(node.outputs()):
        inferred = value.get_partial_shape() if shape is None else PartialShape(shape)
        if inferred.is_dynamic and inferred.rank.is_static:
            node.set_output_type(i, value.get_element_type(), _named(inferred))


def _corrected(node: Node, sizes: _Sizes) -> list[Dimension] | None:
    """Return the dimensions of the output where OpenVINO infers wrong symbols; None for other operations."""
    op = op_of(node)
    if op.kind is OpKind.SELECTION:
        return _of_select(node, sizes)
    return _of_broadcast(node, sizes) if op.meaning.selection is Selection.REPEATED else None


def _of_gather(node: Node) -> list[Dimension] | None:
    """Return the dimensions of indices, refined by static ones of data off the axis."""
    data, index = (dims(value) for value in node.input_values())
    if data is None or index is None:
        return None
    axis = axis_of(node)
    return [
        have if i != axis and want.is_dynamic and have.is_static else want
        for i, (have, want) in enumerate(zip(data, index, strict=True))
    ]


def _of_broadcast(node: Node, known: _Sizes) -> list[Dimension] | None:
    """Return the output dimensions, in which input dimensions of 1 take the symbol of the target size."""
    before, after, sizes = dims(node.input_value(0)), dims(node.output(0)), known.get(identity(node.input_value(1)))
    if before is None or after is None or sizes is None or not len(before) == len(after) == len(sizes):
        return None
    return [
        size if size is not None and dim.is_dynamic and is_one(one) else dim
        for one, dim, size in zip(before, after, sizes, strict=True)
    ]


def _of_select(node: Node, known: _Sizes) -> list[Dimension] | None:
    """Return the output dimensions; one loses its symbol if the inputs that are not 1 there differ."""
    given, after = [dims(value) for value in node.input_values()], dims(node.output(0))
    if after is None:
        return None
    for i in range(1, len(after) + 1):
        aligned = [shape[-i] for shape in given if shape is not None and len(shape) >= i and not is_one(shape[-i])]
        if not all(same(dim, after[-i]) for dim in aligned):
            after[-i] = Dimension(after[-i].get_min_length(), after[-i].get_max_length())
    return after


def _may_hold_sizes(value: Output) -> bool:
    """Return True for vectors and scalars that may be a shape or a part of one."""
    shape = value.get_partial_shape()
    if shape.is_dynamic or len(shape) > 1 or prod(shape.to_shape()) > MAX_RANK:
        return False
    return value.get_element_type().get_type_name() in ("i32", "i64")


def _that_hold_sizes(value: Output) -> list[Output]:
    """Return the inputs from which a node only moves sizes."""
    node = value.get_node()
    op, given = op_of(node), node.input_values()
    if is_concat(node):
        return list(given)
    return list(given[:1]) if op.meaning.keeps_order or is_converted(node) or _selects(node) else []


def _selects(node: Node) -> bool:
    return node.get_type_name() in ("Gather", "Slice")


def _held(value: Output, known: _Sizes) -> list[Dimension | None]:
    """Return the dynamic dimension that each element of a value holds, or None."""
    node = value.get_node()
    found: list[Dimension | None] = [size for given in _that_hold_sizes(value) for size in known.get(identity(given), [])]
    if op_of(node).kind is OpKind.SHAPE:
        found = [dim if dim.is_dynamic else None for dim in dims(node.input_value(0)) or []]
    elif _selects(node):
        found = _selected(node, found)
    count = prod(value.get_shape())
    return found if len(found) == count else [None] * count


def _selected(node: Node, sizes: list[Dimension | None]) -> list[Dimension | None]:
    """Return the elements that a Gather or Slice with constant indices selects from a vector; empty if these are not constant.

    Out of bounds Gather-8 writes zeros; earlier versions do so for negative indices, too.
    """
    given = [constant(value) for value in node.input_values()[1:4]]
    places = [indices.ravel().tolist() for indices in given if indices is not None]
    if len(places) < len(given):
        return []
    if node.get_type_name() == "Slice":
        return sizes[slice(*(place for (place,) in places))] if all(len(place) == 1 for place in places) else []
    lowest = -len(sizes) if operation(node) == "Gather-8" else 0
    return [sizes[i] if lowest <= i < len(sizes) else None for i in places[0]]
