"""Small questions about an ONNX graph that several files ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import onnx_ir

from ov_gather.kernels.arguments import checked_axis
from ov_gather.ops.onnx_nodes import attribute

from .nodes import ConversionError, describe

Dim = int | onnx_ir.SymbolicDim


def constant_of(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    """Return the tensor of an initializer or a Constant; the default value of a graph input is none, as a caller may replace
    it.
    """
    return None if value.is_graph_input() else onnx_ir.convenience.get_const_tensor(value)


def axis_of(node: onnx_ir.Node, rank: int, default: int = 0) -> int:
    """Return the attribute axis, not negative. Raises ConversionError."""
    try:
        return checked_axis(describe(node), "axis", attribute(node, "axis", default), rank)
    except ValueError as error:
        raise ConversionError(str(error)) from None


def elements_of(node: onnx_ir.Node) -> tuple[tuple[Dim, ...], tuple[Dim, ...], int] | None:
    """Dims of data, dims of indices and the axis of a GatherElements; None if a rank is open. Raises ConversionError."""
    data, indices = (None if value is None else value.shape for value in node.inputs[:2])
    if data is None or indices is None:
        return None
    if data.rank() != indices.rank():
        raise ConversionError(f"{describe(node)}: data of rank {data.rank()} but indices of rank {indices.rank()}")
    return data.dims, indices.dims, axis_of(node, data.rank())


def same(one: Dim, other: Dim) -> bool:
    """Tell whether two dimensions are equal for sure: the same number or the same name."""
    return one == other and (isinstance(one, int) or one.value is not None)


def nodes_of(model: onnx_ir.Model, *op_types: str) -> Iterator[onnx_ir.Node]:
    """Yield the nodes of some operators of the default domain, bodies of control flow included; they may be changed on the
    way.
    """
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if node.domain == "" and node.op_type in op_types:
            yield node


def inputs_of(model: onnx_ir.Model) -> list[onnx_ir.Value]:
    """Return what a caller must give: the inputs without a value of their own."""
    return [value for value in model.graph.inputs if value.name not in model.graph.initializers]


def is_used(value: onnx_ir.Value) -> bool:
    """Tell whether a node, or the outputs of the graph, take a value."""
    return bool(value.uses()) or value.is_graph_output()


def bodies_of(node: onnx_ir.Node) -> list[tuple[str, onnx_ir.Graph]]:
    """Return the graphs that an If, a Loop or a Scan executes, each with the name of its attribute."""
    return [
        (attribute.name, attribute.as_graph())
        for attribute in node.attributes.values()
        if attribute.type == onnx_ir.AttributeType.GRAPH and not attribute.is_ref()
    ]


def constants_of(model: onnx_ir.Model) -> Iterator[onnx_ir.Value]:
    """Yield the initializers and the outputs of Constant nodes, of all graphs."""
    for graph in model.graphs():
        yield from graph.initializers.values()
    for node in nodes_of(model, "Constant"):
        yield node.outputs[0]


def uses_of(value: onnx_ir.Value, passes: Callable[[onnx_ir.Node, int], bool]) -> Iterator[tuple[onnx_ir.Node, int]]:
    """Tell where a value is used, as node and position of the input, and where the outputs of nodes are that it passes through.

    `passes` tells from a node and the position of an input whether the value that is given there passes through the node.
    """
    seen, waiting = {value}, [value]
    while waiting:
        for node, position in waiting.pop().uses():
            yield node, position
            outputs = [output for output in node.outputs if output not in seen] if passes(node, position) else []
            seen.update(outputs)
            waiting += outputs
