"""Which dynamic dimensions of a model are the same whatever the inputs are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Dimension, Model, Node, Output, PartialShape, Symbol

from ov_gather.acceleration.graph import axis_of, bodies, constant, dims, is_one, operation


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
        if dim.is_dynamic:
            dim.set_symbol(Symbol())
    return named


def _infer(node: Node) -> None:
    """As OpenVINO does, with two differences. GatherElements-6, also in sub-graphs, takes data and indices for the same off the
    axis, which is what is to be found out. And sizes that are computed keep their names."""
    if bodies(node):
        return
    shape = _of_gather(node) if operation(node) == "GatherElements-6" else None
    if shape is None:
        node.validate_and_infer_types()
        shape = _of_broadcast(node) if node.get_type_name() in ("Broadcast", "Tile") else None
    if shape is not None:
        node.set_output_type(0, node.get_output_element_type(0), PartialShape(shape))


def _of_gather(node: Node) -> list[Dimension] | None:
    """Those of indices; a size that is known only of data is theirs, too."""
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


def _sizes(value: Output) -> list[Dimension | None] | None:
    """The dynamic dimensions that the elements of a vector or scalar are the sizes of: None for others, or for all of them."""
    shape, node = value.get_partial_shape(), value.get_node()
    if shape.is_dynamic or shape.rank.get_length() > 1:
        return None
    kind, given = node.get_type_name(), node.input_values()
    if kind == "ShapeOf":
        return [dim if dim.is_dynamic else None for dim in dims(given[0]) or []]
    if kind in ("Convert", "Reshape", "Squeeze", "Unsqueeze"):
        return _sizes(given[0])
    if kind == "Concat":
        parts = [_sizes(part) for part in given]
        return None if None in parts else [size for part in parts for size in part or []]
    places = _selected(node) if kind in ("Gather", "Slice") else None
    inner = _sizes(given[0]) if places is not None else None
    if places is not None and inner is not None:
        return [inner[i] for i in np.arange(len(inner))[places].ravel()]
    return [None] * prod(shape.to_shape())


def _selected(node: Node) -> slice | NDArray[Any] | None:
    """Which elements of a vector a Gather or Slice takes, if they are constant."""
    given = [constant(value) for value in node.input_values()[1:4]]
    if node.get_type_name() == "Gather":
        return given[0]
    places = [int(it.item()) for it in given if it is not None]
    return slice(*places) if len(places) == 3 else None
