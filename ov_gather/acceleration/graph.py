"""What the passes share: the gathers of a model and of its sub-graphs, what is known of their shapes, and how one takes the
place of another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Dimension, Model, Node, Output, PartialShape, Symbol
from openvino.utils.node_factory import NodeFactory

from ov_gather.extension import checked_path
from ov_gather.ops.spec import CUSTOM_OPSET


def operation(node: Node) -> str:
    """The operation in the words of its opset: `GatherElements-6`, or `ov_gather.GatherElements` of ours."""
    kind, opset = node.get_type_name(), node.get_type_info().version_id
    return f"{opset}.{kind}" if opset == CUSTOM_OPSET else f"{kind}-{opset.removeprefix('opset')}"


def is_gather(node: Node) -> bool:
    """Whether it is of the gather family, stock or ours."""
    return node.get_type_name() in ("Gather", "GatherElements", "GatherND")


def walk(model: Model, place: str = "") -> Iterator[tuple[str, Node]]:
    """The nodes of a model and of its sub-graphs, in topological order; with the names of the layers that hold them."""
    for node in model.get_ordered_ops():
        yield place, node
        for body in _bodies(node):
            yield from walk(body, f"{place}{node.get_friendly_name()}/")


def _bodies(node: Node) -> list[Model]:
    if node.get_type_name() == "If":
        return [node.get_then_body(), node.get_else_body()]
    return [node.get_function()] if node.get_type_name() in ("Loop", "TensorIterator") else []


def gather_elements(data: Output, indices: Output, axis: int, *, broadcast: bool) -> Node:
    """A node of ours. Raises ImportError, FileNotFoundError as `register` does."""
    return _factory().create("GatherElements", [data, indices], {"axis": axis, "broadcast": broadcast})


@cache
def _factory() -> NodeFactory:
    factory = NodeFactory()
    factory.add_extension(checked_path())
    return factory


def stock(model: Model, name: str) -> list[Node]:
    """Its nodes of an operation, as `operation` tells it, also of sub-graphs."""
    return [node for _, node in walk(model) if operation(node) == name]


def take_place(old: Node, new: Node) -> None:
    """All that read `old` read `new` then, which gets its name, the names of its tensor and its rt_info."""
    new.set_friendly_name(old.get_friendly_name())
    for key, value in old.get_rt_info().items():
        new.set_rt_info(value, key)
    old.output(0).replace(new.output(0))


def constant(value: Output) -> NDArray[Any] | None:
    """The elements of a Constant."""
    node = value.get_node()
    return np.asarray(node.data) if node.get_type_name() == "Constant" else None


def axis_of(gather: Node) -> int | None:
    """The axis of a GatherElements, from the first dimension; None while the rank is not known."""
    rank = gather.get_input_partial_shape(0).rank
    return int(gather.get_attributes()["axis"]) % rank.get_length() if rank.is_static else None


def dims(value: Output) -> list[Dimension] | None:
    """Of a value of known rank."""
    shape = value.get_partial_shape()
    return list(shape) if shape.rank.is_static else None


def same(one: Dimension, other: Dimension) -> bool:
    """Whether two dimensions are the same whatever the inputs are."""
    if one.is_static and other.is_static:
        return bool(one == other)
    return one.has_symbol() and other.has_symbol() and bool(one.get_symbol() == other.get_symbol())


def is_one(dim: Dimension) -> bool:
    """Whether a dimension is 1 whatever the inputs are."""
    return bool(dim.is_static and dim.get_length() == 1)


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
    """But GatherElements-6, also in sub-graphs, takes data and indices for the same off the axis, which is to be found out."""
    if _bodies(node):
        return
    data, index = (dims(value) for value in node.input_values()[:2]) if operation(node) == "GatherElements-6" else (None, None)
    axis = axis_of(node) if data else None
    if data is None or index is None:
        node.validate_and_infer_types()
        return
    known = [want if want.is_static or i == axis else have for i, (have, want) in enumerate(zip(data, index, strict=True))]
    node.set_output_type(0, node.get_output_element_type(0), PartialShape(known))
