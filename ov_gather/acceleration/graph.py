"""This module tells what the passes share: the gathers of a model and of its sub-graphs, what is known of their shapes, and how
one takes the place of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ov_gather.extension import checked_path
from ov_gather.extension.python_api import Dimension, Model, Node, NodeFactory, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.spec import CUSTOM_OPSET

Found = TypeVar("Found")


def operation(node: Node) -> str:
    """Return the operation in the words of its opset: `GatherElements-6`, or `ov_gather.GatherElements` of ours."""
    kind, opset = node.get_type_name(), node.get_type_info().version_id
    return f"{opset}.{kind}" if opset == CUSTOM_OPSET else f"{kind}-{opset.removeprefix('opset')}"


def is_gather(node: Node) -> bool:
    """Tell whether a node is of the gather family, stock or ours."""
    return node.get_type_name() in ("Gather", "GatherElements", "GatherND")


def is_scatter(node: Node) -> bool:
    """Tell whether a node is a scatter, stock or ours."""
    return node.get_type_name() in ("ScatterElements", "ScatterElementsUpdate", "ScatterND", "ScatterNDUpdate")


def walk(model: Model, place: str = "") -> Iterator[tuple[str, Node]]:
    """Yield the nodes of a model and of its sub-graphs, in topological order; with the names of the layers that hold them."""
    left = [(place, iter(model.get_ordered_ops()))]
    while left:
        place, nodes = left[-1]
        node = next(nodes, None)
        if node is None:
            left.pop()
            continue
        yield place, node
        for body in reversed(bodies(node)):
            left.append((f"{place}{node.get_friendly_name()}/", iter(body.get_ordered_ops())))


def bodies(node: Node) -> list[Model]:
    """Return the sub-graphs of a node."""
    if node.get_type_name() == "If":
        return [node.get_then_body(), node.get_else_body()]
    return [node.get_function()] if node.get_type_name() in ("Loop", "TensorIterator") else []


def ours(kind: str, inputs: list[Output], attributes: dict[str, Any]) -> Node:
    """Return a gather or scatter of opset `ov_gather`, which takes indices of i32 and i64: others are converted before it.

    Raises ImportError, FileNotFoundError as `register` does.
    """
    data, indices, *others = inputs
    return _factory().create(kind, [data, wide(indices), *others], attributes)


def wide(indices: Output) -> Output:
    """Convert indices to a type that holds every index that OpenVINO reads, and its negative; i32 and i64 stay.

    A u64 beyond i64 saturates, so that it stays out of bounds, as in the CPU plugin's own conversion of constants to i32.
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
    """Return a GatherElements like a given one, of other data."""
    index, attributes = gather.input_value(1), gather.get_attributes()
    if operation(gather) == "GatherElements-6":
        return ops.gather_elements(data, index, attributes["axis"])
    return ours("GatherElements", [data, index], attributes)


def copied(node: Node, inputs: Sequence[Output]) -> Node:
    """Return a node of OpenVINO that does the same to other inputs."""
    other = NodeFactory(node.get_type_info().version_id).create(node.get_type_name(), list(inputs), node.get_attributes())
    other.set_friendly_name(f"{node.get_friendly_name()}/in_bounds")
    return other


def nodes_of(model: Model, name: str) -> list[Node]:
    """Return the nodes of an operation, named as `operation` names it, in a model and its sub-graphs."""
    return [node for _, node in walk(model) if operation(node) == name]


def readers(node: Node) -> list[Node]:
    """Return the nodes that read the output of a node of one output; twice what reads it twice."""
    return [port.get_node() for port in node.output(0).get_target_inputs()]


def gathers_elements(node: Node) -> bool:
    """Tell whether a node is GatherElements-6, or a GatherElements of ours that does no more."""
    attributes, kind = node.get_attributes(), operation(node)
    more = any(attributes.get(name) for name in ("broadcast", "transpose", "lanes"))
    return kind == "GatherElements-6" or (kind == "ov_gather.GatherElements" and not more)


def demands_same_shape(node: Node) -> bool:
    """Tell whether a GatherElements, stock or ours, raises where indices are smaller than data off the axis."""
    return operation(node) == "GatherElements-6" or bool(node.get_attributes().get("same_shape"))


def has_same_shape(gather: Node) -> bool:
    """Tell whether indices of a GatherElements have data's shape off the axis whatever the inputs are."""
    data, indices = (dims(value) for value in gather.input_values())
    if data is None or indices is None or len(data) != len(indices):  # data in lanes has a dimension more
        return False
    axis = axis_of(gather)
    return all(same(have, want) for i, (have, want) in enumerate(zip(data, indices, strict=True)) if i != axis)


def from_inputs(
    value: Output, inputs_of: Callable[[Output], list[Output]], compute: Callable[[Output, list[Found]], Found]
) -> Found:
    """Compute something of a value from the same of the values that `inputs_of` names; no recursion, for graphs are deep."""
    known: dict[tuple[int, int], Found] = {}
    left = [value]
    while left:
        current = left[-1]
        inputs = inputs_of(current)
        waiting = [given for given in inputs if identity(given) not in known]
        if waiting:
            left += waiting
        else:
            left.pop()
            known[identity(current)] = compute(current, [known[identity(given)] for given in inputs])
    return known[identity(value)]


def identity(value: Output) -> tuple[int, int]:
    """Return a key that is the same for the same output of the same node, whichever Python object stands for that."""
    return value.get_node().get_instance_id(), value.get_index()


def take_place(old: Node, new: Node) -> None:
    """Make all that read `old` read `new`, which gets the name of `old`, the names of its tensor and its rt_info."""
    new.set_friendly_name(old.get_friendly_name())
    for key, value in old.get_rt_info().items():
        new.set_rt_info(value, key)
    old.output(0).replace(new.output(0))


def constant(value: Output) -> NDArray[Any] | None:
    """Return the elements of a Constant."""
    node = value.get_node()
    return np.asarray(node.data) if node.get_type_name() == "Constant" else None


COMPUTED_EARLY = "OpenVINO computes it when it compiles"
"""Why a gather stays of which `is_computed_early` says that."""


_NEVER_EARLY = ("Multinomial", "RandomUniform", "ReadValue")
"""Operations that yield something else from time to time, though all that they read is constant."""


def is_computed_early(values: list[Output]) -> bool:
    """Tell whether values depend on nothing but constants: OpenVINO computes them when it compiles, with what it has for
    that.
    """
    left, seen = [value.get_node() for value in values], set()
    while left:
        node = left.pop()
        if node.get_instance_id() in seen:
            continue
        seen.add(node.get_instance_id())
        kind = node.get_type_name()
        if kind in _NEVER_EARLY or (node.get_input_size() == 0 and kind != "Constant"):
            return False
        left += [value.get_node() for value in node.input_values()]
    return True


def axis_of(node: Node) -> int | None:
    """Return the axis of a GatherElements or LogSoftmax, from the first dimension; None while the rank is not known."""
    rank = node.get_input_partial_shape(0).rank
    return int(node.get_attributes()["axis"]) % rank.get_length() if rank.is_static else None


def dims(value: Output) -> list[Dimension] | None:
    """Return the dimensions of a value; None while its rank is not known."""
    shape = value.get_partial_shape()
    return list(shape) if shape.rank.is_static else None


def same(one: Dimension, other: Dimension) -> bool:
    """Tell whether two dimensions are the same whatever the inputs are."""
    if one.is_static and other.is_static:
        return bool(one == other)
    return one.has_symbol() and other.has_symbol() and bool(one.get_symbol() == other.get_symbol())


def is_one(dim: Dimension) -> bool:
    """Tell whether a dimension is 1 whatever the inputs are."""
    return bool(dim.is_static and dim.get_length() == 1)


def stand_behind(node: Node, last: Node, readers: set[object]) -> None:
    """Let all that read a node read another one, which bears the names of its tensor from now on."""
    last.set_friendly_name(f"{node.get_friendly_name()}/in_bounds")
    names = node.output(0).get_names()
    node.output(0).set_names(set())
    last.output(0).set_names(names)
    for reader in readers:
        reader.replace_source_output(last.output(0))  # type: ignore[attr-defined]
