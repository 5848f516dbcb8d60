"""603: indices that a model computes. Runs only on models without errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ov_gather.ir.model import Layer, Model
from ov_gather.rules.base import Violation, rule


@dataclass(frozen=True, slots=True)
class ErrorFreeModel:
    """A whole model in which no rule has found an error, so its declarations can be trusted."""

    model: Model


def _has_no_computed_index(checked: ErrorFreeModel) -> bool:
    return not any(
        _is_computed(graph, layer, is_body=graph is not checked.model)
        for _, graph in checked.model.walk()
        for layer_type, version in graph.kinds
        if layer_type.startswith(("Gather", "Scatter"))
        for layer in graph.kinds[layer_type, version]
    )


def _is_computed(graph: Model, layer: Layer, *, is_body: bool) -> bool:
    """Return True if indices are neither a constant, which OVG601 checks, nor an input of the model."""
    source = graph.producer(layer, layer.inputs[1]) if len(layer.inputs) > 1 else None
    return source is not None and source[0].type != "Const" and (is_body or source[0].type != "Parameter")


@rule("OVG603", ErrorFreeModel, unless=_has_no_computed_index)
def computed_index_out_of_bounds(checked: ErrorFreeModel) -> Iterator[Violation]:
    """A computed index is out of bounds of the axis in every run that reaches the layer.

    Range analysis proves this for all inputs of the model. No runtime can execute the layer correctly: some read outside the
    tensor, some write zeros. Correct the computation of the index, or the size of the axis. `ov-gather prove` reports on all
    indices, including those that depend on inputs. This rule runs only on models without other errors.
    """
    from ov_gather.ranges.ir_graph import IrGraph  # imported late: few models compute indices
    from ov_gather.ranges.proofs import refuted
    from ov_gather.ranges.rules.call import CPU_PLUGIN

    graph = IrGraph(checked.model)
    computed = [place for place in graph.places if _is_computed(graph.graph(place), place.layer, is_body=bool(place.path))]
    by_site = {place.site: place for place in computed if place.site is not None}
    for site, proof in refuted(graph, CPU_PLUGIN, list(by_site)):
        place = by_site[site]
        low, high = ("?" if bound is None else bound for bound in proof.index_range)
        values = f"{low}" if low == high else f"{low}..{high}"
        axis = f"axis {proof.axis} of size {proof.axis_size}"
        message = f"indices are {values}, out of bounds of {axis}, in every run that gets here"
        hint = "correct how indices are computed, or the size of the axis"
        yield Violation.at(place.layer, message, hint, port=place.layer.inputs[1], subgraph_path=place.path)
