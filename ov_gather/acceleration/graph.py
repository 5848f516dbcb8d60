"""Helpers of the passes: traversal, shapes and replacement of nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.extension import checked_path
from ov_gather.extension.python_api import Dimension, Model, Node, NodeFactory, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.graph.openvino import bodies
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.system.traversal import reachable

INDICES = 1
"""Input port of the indices of every gather and scatter."""
_GATHERS = where(OPENVINO, lambda op: op.kind is OpKind.GATHER)
_SCATTERS = where(OPENVINO, lambda op: op.kind is OpKind.SCATTER and op.meaning.reduces)


def operation(node: Node) -> str:
    """Return type and opset version of a node, e.g. `GatherElements-6` or `ov_gather.GatherElements`."""
    kind, opset = node.get_type_name(), node.get_type_info().version_id
    return f"{opset}.{kind}" if opset == CUSTOM_OPSET else f"{kind}-{opset.removeprefix('opset')}"


def is_ours(node: Node) -> bool:
    """Return True if a node is an operation of this package."""
    return bool(node.get_type_info().version_id == CUSTOM_OPSET)


def is_gather(node: Node) -> bool:
    """Return True if a node is a gather, stock or ours."""
    return node.get_type_name() in _GATHERS


def is_scatter(node: Node) -> bool:
    """Return True if a node is a scatter, stock or ours."""
    return node.get_type_name() in _SCATTERS


def walk(model: Model, place: str = "") -> Iterator[tuple[str, Node]]:
    """Yield the nodes of a model and its sub-graphs in topological order, each behind its enclosing layers, as "If_1/"."""
    for node in model.get_ordered_ops():
        yield place, node
        for body in bodies(node):
            yield from walk(body, f"{place}{node.get_friendly_name()}/")


def ours(kind: str, inputs: list[Output], attributes: dict[str, Any]) -> Node:
    """Create a gather or scatter of opset `ov_gather`. Indices are converted to i32 or i64 if they have another type.

    Raises:
        ImportError, FileNotFoundError: see `register`.
    """
    data, indices, *others = inputs
    return _factory().create(kind, [data, wide(indices), *others], attributes)


def wide(indices: Output) -> Output:
    """Convert indices to i32 or i64, so that every index and its negative are representable; i32 and i64 stay.

    A u64 above the maximum of i64 saturates and so stays out of bounds, as in the CPU plugin's conversion of constants to i32.
    """
    kind = indices.get_element_type().get_type_name()
    if kind in ("i32", "i64"):
        return indices
    if kind == "u64":
        indices = ops.minimum(indices, ops.constant(np.uint64(2**63 - 1))).output(0)
    return ops.convert(indices, "i64" if kind in ("u32", "u64") else "i32").output(0)


@cache
def _factory() -> NodeFactory:
    factory = NodeFactory()
    factory.add_extension(checked_path())
    return factory


def like(gather: Node, data: Output) -> Node:
    """Return a copy of a GatherElements that gathers from other data."""
    index, attributes = gather.input_value(1), gather.get_attributes()
    if operation(gather) == "GatherElements-6":
        return ops.gather_elements(data, index, attributes["axis"])
    return ours("GatherElements", [data, index], attributes)


def copied(node: Node, inputs: Sequence[Output]) -> Node:
    """Return a copy of a stock node with other inputs."""
    other = NodeFactory(node.get_type_info().version_id).create(node.get_type_name(), list(inputs), node.get_attributes())
    other.set_friendly_name(f"{node.get_friendly_name()}/in_bounds")
    return other


def nodes_of(model: Model, *names: str) -> list[Node]:
    """Return the nodes of a model and its sub-graphs whose `operation` is one of `names`."""
    return [node for _, node in walk(model) if operation(node) in names]


def readers(node: Node) -> list[Node]:
    """Return the nodes that read the outputs of a node, once per input."""
    return [port.get_node() for value in node.outputs() for port in value.get_target_inputs()]


def descendants(node: Node, passes: Callable[[Node], bool] = lambda node: True) -> Iterator[Node]:
    """Yield the nodes that read the outputs of a node, directly or behind nodes for which `passes` holds, each once."""
    return reachable(readers(node), lambda reader: readers(reader) if passes(reader) else [], Node.get_instance_id)


def ancestors(
    values: Iterable[Output], inputs_of: Callable[[Node], Iterable[Output]] = lambda node: node.input_values()
) -> Iterator[Node]:
    """Yield the nodes that compute some values, directly or through the inputs that `inputs_of` returns, each once."""
    starts = (value.get_node() for value in values)
    return reachable(starts, lambda node: [value.get_node() for value in inputs_of(node)], Node.get_instance_id)


def viewed(value: Output, types: Collection[str]) -> Output:
    """Return the source of a value: follow it back through nodes of these types, by their first input."""
    while (node := value.get_node()).get_type_name() in types:
        value = node.input_value(0)
    return value


def real_inputs(node: Node) -> list[Output]:
    """Return the inputs of a node that are floating-point numbers."""
    return [value for value in node.input_values() if value.get_element_type().is_real()]


def gathers_elements(node: Node) -> bool:
    """Return True if a node is GatherElements-6, or ours without additional attributes."""
    attributes, kind = node.get_attributes(), operation(node)
    more = any(attributes.get(name) for name in ("broadcast", "transpose", "lanes"))
    return kind == "GatherElements-6" or (kind == "ov_gather.GatherElements" and not more)


def demands_same_shape(node: Node) -> bool:
    """Return True if a GatherElements, stock or ours, raises if indices are smaller than data off the axis."""
    return operation(node) == "GatherElements-6" or bool(node.get_attributes().get("same_shape"))


def has_same_shape(gather: Node) -> bool:
    """Return True if indices of a GatherElements have data's shape off the axis for every input shape."""
    data, indices = (dims(value) for value in gather.input_values())
    if data is None or indices is None or len(data) != len(indices):  # lanes are an additional dimension of data
        return False
    axis = axis_of(gather)
    return all(same(have, want) for i, (have, want) in enumerate(zip(data, indices, strict=True)) if i != axis)


def attributes_of_ours(gather: Node, *, broadcast: bool) -> dict[str, Any]:
    """Return the attributes of our GatherElements that replaces one, and raises for the same shapes."""
    same_shape = not broadcast and demands_same_shape(gather) and not has_same_shape(gather)
    return {"axis": gather.get_attributes()["axis"], "broadcast": broadcast, "same_shape": same_shape}


def identity(value: Output) -> tuple[int, int]:
    """Return a key that identifies an output; OpenVINO creates a new Python object on each access."""
    return value.get_node().get_instance_id(), value.get_index()


def replace_node(old: Node, new: Node) -> None:
    """Redirect all readers of `old` to `new`, and copy its friendly name, tensor names and rt_info."""
    new.set_friendly_name(old.get_friendly_name())
    for key, value in old.get_rt_info().items():
        new.set_rt_info(value, key)
    old.output(0).replace(new.output(0))


def constant(value: Output) -> NDArray[Any] | None:
    """Return the elements of a Constant; None for other nodes."""
    node = value.get_node()
    return np.asarray(node.data) if node.get_type_name() == "Constant" else None


FOLDED_AT_COMPILE = "OpenVINO computes it when it compiles"
"""Reason reported for gathers that OpenVINO folds at compile time (`is_constant_foldable`)."""


_NEVER_EARLY = where(OPENVINO, lambda op: op.kind in (OpKind.RANDOM, OpKind.STATE))
"""Operations whose output changes between inferences even if all inputs are constant."""


def is_constant_foldable(values: list[Output]) -> bool:
    """Return True if the values depend on constants only: OpenVINO then computes them at compile time."""
    return all(
        node.get_type_name() not in _NEVER_EARLY and (node.get_input_size() or node.get_type_name() == "Constant")
        for node in ancestors(values)
    )


def axis_of(node: Node) -> int | None:
    """Return the axis of a GatherElements or LogSoftmax, counted from the first dimension; None if the rank is dynamic."""
    rank = node.get_input_partial_shape(0).rank
    return int(node.get_attributes()["axis"]) % rank.get_length() if rank.is_static else None


def dims(value: Output) -> list[Dimension] | None:
    """Return the dimensions of a value; None if its rank is dynamic."""
    shape = value.get_partial_shape()
    return list(shape) if shape.rank.is_static else None


def same(one: Dimension, other: Dimension) -> bool:
    """Return True if two dimensions are equal for all inputs."""
    if one.is_static and other.is_static:
        return bool(one == other)
    return one.has_symbol() and other.has_symbol() and bool(one.get_symbol() == other.get_symbol())


def is_one(dim: Dimension) -> bool:
    """Return True if a dimension is 1 for all inputs."""
    return bool(dim.is_static and dim.get_length() == 1)


def redirect_readers(node: Node, last: Node, readers: set[object]) -> None:
    """Redirect `readers` of `node` to `last`, and move its tensor names there."""
    last.set_friendly_name(f"{node.get_friendly_name()}/in_bounds")
    names = node.output(0).get_names()
    node.output(0).set_names(set())
    last.output(0).set_names(names)
    for reader in readers:
        reader.replace_source_output(last.output(0))  # type: ignore[attr-defined]
