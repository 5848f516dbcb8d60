"""Queries on ONNX graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import onnx_ir

from ov_gather.ir.bodies import Slicing
from ov_gather.kernels.arguments import checked_axis
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ops.table import ONNX, Trait, where
from ov_gather.system.traversal import reachable

from .errors import ConversionError, describe

Dim = int | onnx_ir.SymbolicDim
Dims = onnx_ir.Shape | Sequence[Dim | None] | None
"""The shape of a value: None for a dimension or a rank that is unknown."""
Inputs = Sequence[onnx_ir.Value | None]

# OpenVINO may return the input of these operators instead of a copy: it drops Transposes that cancel each other, and Slices,
# Expands, Tiles and Pads that change nothing.
VIEWS = where(ONNX, lambda op: Trait.VIEW in op.traits)


def constant_of(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    """Return the tensor of an initializer or Constant; None for graph inputs, whose default values a caller may replace."""
    return None if value.is_graph_input() else onnx_ir.convenience.get_const_tensor(value)


def graph_of(node: onnx_ir.Node) -> onnx_ir.Graph:
    """Return the graph that a node belongs to."""
    assert isinstance(node.graph, onnx_ir.Graph)  # functions are inlined
    return node.graph


def axis_of(node: onnx_ir.Node, rank: int) -> int:
    """Return the attribute `axis`, counted from the front. Raises ConversionError."""
    try:
        return checked_axis(describe(node), "axis", attribute(node, "axis", 0), rank)
    except ValueError as error:
        raise ConversionError(str(error)) from None


def elements_of(node: onnx_ir.Node) -> tuple[tuple[Dim, ...], tuple[Dim, ...], int] | None:
    """Return dims of data, dims of indices and axis of a GatherElements; None if a rank is unknown. Raises ConversionError."""
    data, indices = (None if value is None else value.shape for value in node.inputs[:2])
    if data is None or indices is None:
        return None
    if data.rank() != indices.rank():
        raise ConversionError(f"{describe(node)}: data of rank {data.rank()} but indices of rank {indices.rank()}")
    return data.dims, indices.dims, axis_of(node, data.rank())


def same(one: Dim, other: Dim) -> bool:
    """Return True if two dimensions are certainly equal: the same number or the same name."""
    return one == other and (isinstance(one, int) or one.value is not None)


def nodes_of(model: onnx_ir.Model, *op_types: str) -> Iterator[onnx_ir.Node]:
    """Yield the nodes of these operators of the default domain, bodies included; callers may change the graph meanwhile."""
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if is_default(node, op_types):
            yield node


def is_default(node: onnx_ir.Node, operators: Collection[str]) -> bool:
    """Return True if a node is one of these operators of the default domain."""
    return node.op_type in operators and node.domain == ""  # onnx-ir normalises "ai.onnx" to ""


def inputs_of(model: onnx_ir.Model) -> list[onnx_ir.Value]:
    """Return the inputs without a default value, which a caller must feed."""
    return [value for value in model.graph.inputs if value.name not in model.graph.initializers]


def type_of(node: onnx_ir.Node) -> str:
    """Return the operator of a node, with its domain if that is not the default one."""
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def is_used(value: onnx_ir.Value) -> bool:
    """Return True if a node or a graph output uses a value."""
    return bool(value.uses()) or value.is_graph_output()


def viewed(value: onnx_ir.Value, operators: Collection[str] = ("Identity",)) -> onnx_ir.Value:
    """Return the source of a value: follow it back through these operators, by their first input, and Concats of one input."""
    while (node := value.producer()) is not None and is_default(node, operators):
        if node.inputs[0] is None or (node.op_type == "Concat" and len(node.inputs) > 1):
            break
        value = node.inputs[0]
    return value


def bodies_of(node: onnx_ir.Node) -> list[tuple[str, onnx_ir.Graph]]:
    """Return the bodies of an If, Loop or Scan, each with the name of its attribute."""
    return [
        (attribute.name, attribute.as_graph())
        for attribute in node.attributes.values()
        if attribute.type == onnx_ir.AttributeType.GRAPH and not attribute.is_ref()
    ]


def slicings_of(node: onnx_ir.Node, side: str, count: int) -> list[Slicing]:
    """Return the slices of each of the sliced inputs, or stacked outputs, of a Scan; `side` is "input" or "output"."""
    given = [node.attributes.get(f"scan_{side}_{name}") for name in ("axes", "directions")]
    axes, directions = ([*(numbers.as_ints() if numbers else ()), *[0] * count][:count] for numbers in given)
    return list(map(slicing_of, axes, directions))


def slicing_of(axis: int, direction: int) -> Slicing:
    """Return the slices of a Scan along an axis; a `direction` of 1 starts at the end."""
    return Slicing(axis, -1, 0, -1, 0) if direction else Slicing(axis, part_size=0)


def constants_of(model: onnx_ir.Model) -> Iterator[onnx_ir.Value]:
    """Yield the initializers and the outputs of Constant nodes, of all graphs."""
    for graph in model.graphs():
        yield from graph.initializers.values()
    for node in nodes_of(model, "Constant"):
        yield node.outputs[0]


def uses_of(value: onnx_ir.Value, passes: Callable[[onnx_ir.Node, int], bool]) -> Iterator[tuple[onnx_ir.Node, int]]:
    """Yield each use of a value (node and input position); follow it through nodes for which `passes(node, position)` holds."""

    def carried(value: onnx_ir.Value) -> list[onnx_ir.Value]:
        return [output for node, position in value.uses() if passes(node, position) for output in node.outputs]

    for found in reachable([value], carried):
        yield from found.uses()


def is_constant(value: onnx_ir.Value) -> bool:
    """Return True if a value is computed from constants alone, outside bodies."""
    found = reachable([value], lambda given: [] if constant_of(given) is not None else operands_of(given))
    return all(constant_of(given) is not None or ((node := given.producer()) and not bodies_of(node)) for given in found)


def operands_of(value: onnx_ir.Value) -> list[onnx_ir.Value]:
    """Return the inputs of the node that computes a value; empty for inputs and initializers of a graph."""
    node = value.producer()
    return [] if node is None else [given for given in node.inputs if given is not None]
