"""Bounds of the integers of an ONNX model, and checks that its gathers stay in bounds."""

from __future__ import annotations

from functools import cached_property

import onnx_ir

from ov_gather.ops.index_table import ONNX_INDICES
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.values import is_integer
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.graph import AnalysedGraph, in_order
from ov_gather.ranges.rules.call import CONVERTED, ONNX
from ov_gather.ranges.rules.indexing import is_within
from ov_gather.ranges.sites import Site

from .graphs import type_of
from .onnx_graph import ONNX_OPERATORS, OnnxGraph, site_of, sites_of


class Ranges:
    """Bounds of the values of a model with inferred types and shapes; of values added later, only the type is known.

    Tensors are assumed to have fewer than 2^31 elements, as on the CPU plugin.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self._model = model
        self._source = OnnxGraph(model)
        self._graph = AnalysedGraph(self._source, ONNX_OPERATORS)

    def of(self, value: onnx_ir.Value | None) -> Interval | None:
        """Return the bounds of all elements of an integer or boolean tensor, as ONNX specifies; None for other values."""
        if value is None:
            return None
        known = self._as_onnx_says.value(value)
        return known.elements if is_integer(known.element_type) else None

    def are_in_bounds(self, gather: onnx_ir.Node) -> bool:
        """Return True if no index of a gather can be out of bounds on OpenVINO."""
        site = site_of(self._source.node(gather))
        return site is not None and self._on_openvino.outcome(site) is Outcome.IN_BOUNDS

    def unproved(self, node: onnx_ir.Node) -> list[Site]:
        """Return the sites of a node of the index table that may have an index out of bounds."""
        sites = sites_of(self._source.node(node)) if type_of(node) in ONNX_INDICES else []
        return [site for site in sites if self._on_openvino.outcome(site) is not Outcome.IN_BOUNDS]

    def are_indices(self, values: onnx_ir.Value, data: onnx_ir.Value, axis: int) -> bool:
        """Return True if each element of a value is in bounds of an axis of data on OpenVINO."""
        known, shape = self._on_openvino.value(values), self._on_openvino.value(data).shape
        return shape is not None and is_within(self._on_openvino.algebra, known.elements, shape[axis])

    @cached_property
    def _as_onnx_says(self) -> Analysis:
        wanted = self._graph.wanted(self._source.nodes_in(None))
        return analyse(self._graph, in_order(self._graph, wanted), ONNX, Assumption())

    @cached_property
    def _on_openvino(self) -> Analysis:
        return analyse(self._graph, steps_to(self._graph, self._graph.sites), CONVERTED, Assumption())
