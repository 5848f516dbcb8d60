"""This module tells which dynamic dimensions of a model are the same whatever the inputs are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from ov_gather.acceleration.graph import axis_of, bodies, constant, dims, from_inputs, is_one, operation, same
from ov_gather.extension.python_api import Dimension, Model, Node, Output, PartialShape, Symbol


@contextmanager
def symbols(model: Model) -> Iterator[None]:
    """Name the dynamic dimensions of the inputs meanwhile: OpenVINO's shape inference tells then which others are the same."""
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
    for node in model.get_ordered_ops():
        _infer(node)
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


def _infer(node: Node) -> None:
    """Infer shapes as OpenVINO does, but for four things. GatherElements-6 takes data and indices for the same off the axis,
    which is what is to be found out. Sizes that are computed keep their names. Each dynamic dimension has a name: OpenVINO
    takes one without for the same as what it is broadcast with, which may be 1. So does its Select with a condition."""
    shape = _of_gather(node) if operation(node) == "GatherElements-6" else None
    if shape is None and not bodies(node):
        node.validate_and_infer_types()
        shape = _CORRECTED[node.get_type_name()](node) if node.get_type_name() in _CORRECTED else None
    for i, value in enumerate(node.outputs()):
        inferred = value.get_partial_shape() if shape is None else PartialShape(shape)
        if inferred.is_dynamic and inferred.rank.is_static:
            node.set_output_type(i, value.get_element_type(), _named(inferred))


def _of_gather(node: Node) -> list[Dimension] | None:
    """The dimensions of a GatherElements are those of indices; a size that is known only of data is theirs, too."""
    data, index = (dims(value) for value in node.input_values())
    if data is None or index is None:
        return None
    axis = axis_of(node)
    return [
        have if i != axis and want.is_dynamic and have.is_static else want
        for i, (have, want) in enumerate(zip(data, index, strict=True))
    ]


def _of_broadcast(node: Node) -> list[Dimension] | None:
    """What is 1 in the input becomes the size that is asked for."""
    before, after, sizes = dims(node.input_value(0)), dims(node.output(0)), _sizes(node.input_value(1))
    if before is None or after is None or sizes is None or not len(before) == len(after) == len(sizes):
        return None
    return [
        size if size is not None and dim.is_dynamic and is_one(one) else dim
        for one, dim, size in zip(before, after, sizes, strict=True)
    ]


def _of_select(node: Node) -> list[Dimension] | None:
    """What one input has is not the output's as long as another input may be larger."""
    given, after = [dims(value) for value in node.input_values()], dims(node.output(0))
    if after is None:
        return None
    for i in range(1, len(after) + 1):
        aligned = [shape[-i] for shape in given if shape is not None and len(shape) >= i and not is_one(shape[-i])]
        if not all(same(dim, after[-i]) for dim in aligned):
            after[-i] = Dimension(after[-i].get_min_length(), after[-i].get_max_length())
    return after


_CORRECTED = {"Broadcast": _of_broadcast, "Select": _of_select, "Tile": _of_broadcast}

_Sizes = list[Dimension | None] | None
"""The dynamic dimension that each element of a vector or scalar is the size of, or None; None where it has more axes."""


def _sizes(value: Output) -> _Sizes:
    """Return the sizes that a value holds."""
    return from_inputs(value, _that_hold_sizes, _put_together)


def _that_hold_sizes(value: Output) -> list[Output]:
    """Return what a node that only moves sizes about reads them from."""
    node = value.get_node()
    kind, given = node.get_type_name(), node.input_values()
    if kind == "Concat":
        return list(given)
    keeps_numbers = kind == "Convert" and value.get_element_type().get_type_name() in ("i32", "i64")
    return list(given[:1]) if keeps_numbers or kind in ("Gather", "Reshape", "Slice", "Squeeze", "Unsqueeze") else []


def _put_together(value: Output, parts: list[_Sizes]) -> _Sizes:
    shape, node = value.get_partial_shape(), value.get_node()
    if shape.is_dynamic or shape.rank.get_length() > 1:
        return None
    found: list[Dimension | None] = [size for part in parts for size in part or []]
    if node.get_type_name() == "ShapeOf":
        found = [dim if dim.is_dynamic else None for dim in dims(node.input_value(0)) or []]
    elif node.get_type_name() in ("Gather", "Slice"):
        found = _selected(node, found)
    count = prod(shape.to_shape())
    return found if len(found) == count else [None] * count


def _selected(node: Node, sizes: list[Dimension | None]) -> list[Dimension | None]:
    """Return what a Gather or Slice takes from a vector, if it is constant which; else nothing. Out of bounds Gather-8 writes
    zeros, and earlier ones do so for negative indices, too.
    """
    given = [constant(value) for value in node.input_values()[1:4]]
    places = [indices.ravel().tolist() for indices in given if indices is not None]
    if len(places) < len(given):
        return []
    if node.get_type_name() == "Slice":
        return sizes[slice(*(place for (place,) in places))] if all(len(place) == 1 for place in places) else []
    lowest = -len(sizes) if operation(node) == "Gather-8" else 0
    return [sizes[i] if lowest <= i < len(sizes) else None for i in places[0]]
