"""6xx: index values that the document holds as constants, or that the model computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.ops import indexing
from ov_gather.ops.index_table import openvino_rows
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.graph.ir import IrGraph
    from ov_gather.graph.protocol import Node
    from ov_gather.ranges.graph import AnalysedGraph
    from ov_gather.ranges.sites import Site

    IsWrong = Callable[[NDArray[Any], Any], NDArray[Any]]


def first_constant_index(view: LayerView, is_wrong: IsWrong) -> tuple[str, int, int, int] | None:
    """Return the first constant index of a layer that `is_wrong`; None if there is none.

    Returns:
        The place of the index, e.g. "indices[3, 17]", its value, the number of wrong indices, and the size of the axis.
    """
    rule, sizes = view.operation.index_rule, view.index_sizes
    if rule is None:
        return None
    port = rule.port
    if view.input_types[port] not in (view.operation.inputs[port].element_types or ()):
        return None
    try:
        indices = view.constant(port)
    except IRError:  # the 5xx rules report it
        return None
    if indices is None or sizes is None or (len(sizes) > 1 and indices.shape[-1:] != (len(sizes),)):
        return None  # the 4xx rules report tuples of a length other than declared
    import numpy as np  # imported late: validating an IR without constant indices does not need NumPy

    wrong = is_wrong(indices, np.array(sizes) if len(sizes) > 1 else sizes[0])
    if not wrong.any():
        return None
    position = np.unravel_index(int(np.argmax(wrong)), indices.shape)
    name = view.operation.inputs[port].name
    place = f"{name}[{', '.join(map(str, position))}]" if position else name
    size = sizes[position[-1]] if len(sizes) > 1 else sizes[0]
    return place, int(indices[position]), int(wrong.sum()), size


@rule("OVG601", LayerView)
def constant_index_out_of_bounds(view: LayerView) -> Iterator[Violation]:
    """A constant index is out of bounds of the axis.

    No runtime can execute the layer correctly: some read outside the tensor, some write zeros. Correct the index or the shape.
    """
    if not _fills_zeros(view):
        yield from _out_of_bounds(view, "")


@rule("OVG602", LayerView, Severity.WARNING)
def zeros_out_of_bounds(view: LayerView) -> Iterator[Violation]:
    """A constant index of Gather-8 is out of bounds, which yields zeros.

    The specification of Gather-8 says so, but in ONNX it is an error, so it is probably a mistake. Correct the index, unless
    the zeros are intended.
    """
    if _fills_zeros(view):
        yield from _out_of_bounds(view, "; it yields zeros")


def _fills_zeros(view: LayerView) -> bool:
    rule = view.operation.index_rule
    return view.attributes is not None and rule is not None and rule.zero_fill(view.attributes)


def _out_of_bounds(view: LayerView, consequence: str) -> Iterator[Violation]:
    found = first_constant_index(view, lambda indices, size: (indices < _lowest(view, size)) | (indices >= size))
    if found:
        place, value, count, size = found
        port = view.layer.inputs[view.index_rule.port]
        message = f"{place} = {value} is out of bounds for an axis of size {size} ({count} such in all){consequence}"
        hint = "no index is valid along an axis of size 0"
        if size:
            hint = f"{view.operation.name} allows {view.index_rule.specified}, here 0 to {size - 1}"
        yield Violation.at(view.layer, message, hint, port=port)


def _lowest(view: LayerView, size: Any) -> Any:
    """Return the lowest index in bounds. Some of the family specify 0; runtimes count all of theirs from the end (OVG701)."""
    return -size if view.is_of_family else view.index_rule.lowest_specified(size)


@dataclass(frozen=True, slots=True)
class ErrorFreeModel:
    """A whole model in which no rule has found an error, so its declarations can be trusted; and its graph."""

    model: Model
    graph: IrGraph


def _has_no_computed_index(checked: ErrorFreeModel) -> bool:
    return not any(
        _is_computed(graph, layer, is_body=graph is not checked.model)
        for _, graph in checked.model.walk()
        for layer_type, version in graph.kinds
        if indexing(layer_type, version) or openvino_rows(layer_type, version)
        for layer in graph.kinds[layer_type, version]
    )


def _is_computed(graph: Model, layer: Layer, *, is_body: bool) -> bool:
    """Return True if indices are neither a constant, which OVG601 checks for the gather family, nor an input of the model."""
    operation = indexing(layer.type, layer.version)
    if operation is None:
        return True
    assert operation.index_rule is not None  # as for every operation that reads at an index
    port = operation.index_rule.port
    source = graph.producer(layer, layer.inputs[port]) if len(layer.inputs) > port else None
    return source is not None and source[0].type != "Const" and (is_body or source[0].type != "Parameter")


@rule("OVG603", ErrorFreeModel, unless=_has_no_computed_index)
def computed_index_out_of_bounds(checked: ErrorFreeModel) -> Iterator[Violation]:
    """A computed index is out of bounds of the axis in every run that reaches the layer.

    Range analysis proves this for all inputs of the model. No runtime can execute the layer correctly: some read outside the
    tensor, some write zeros. Correct the computation of the index, or the size of the axis. The rule also reports constant
    indices of operations that are no gathers, such as ROIAlign and EmbeddingBagOffsets. `ov-gather prove` reports on all
    indices, including those that depend on inputs. This rule runs only on models without other errors.
    """
    from ov_gather.ranges.graph import AnalysedGraph  # imported late: few models compute indices
    from ov_gather.ranges.proofs import refuted
    from ov_gather.ranges.rules.call import CPU_PLUGIN

    graph = AnalysedGraph(checked.graph)
    by_site = {site: node for node, site in graph.nodes_with_sites if _reads_computed(graph, node, site)}
    for site, proof in refuted(graph, CPU_PLUGIN, list(by_site)):
        node = by_site[site]
        low, high = ("?" if bound is None else bound for bound in proof.index_range)
        values = f"{low}" if low == high else f"{low}..{high}"
        axis = f"axis {proof.axis} of size {proof.axis_size}"
        message = f"indices are {values}, out of bounds of {axis}, in every run that gets here"
        hint = "correct how indices are computed, or the size of the axis"
        yield Violation.at(node.handle, message, hint, port=node.handle.inputs[site.port], subgraph_path=node.path)


def _reads_computed(graph: AnalysedGraph, node: Node, site: Site) -> bool:
    """Return True if `_is_computed` is true of the layer."""
    if indexing(node.type, node.opset) is None or graph.producer(site.indices) is not None:
        return True
    return bool(node.path) and not graph.graph.is_constant(site.indices)
