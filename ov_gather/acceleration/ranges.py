"""Proofs of index bounds for the passes, by the range analysis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.symbols import Elements
from ov_gather.ranges.algebra.values import is_integer
from ov_gather.ranges.analysis import Analysis, Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.inequalities import FINITE
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.ranges.sites import Obstacle, Site


class BoundsQueries:
    """Bounds queries on one model. They remain valid while passes replace gathers by equivalent ones."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def are_kept(self, data: Output, indices: Output, axis: int) -> bool:
        """Return True if every index is proved to be in bounds of the axis of `data`; negative indices count from its end.

        Both values may be outputs of new nodes that read values of the model.
        """
        site = Site("", "GatherElements", 0, self._source.key(data), self._source.key(indices), axis)
        analysis = analyse(self._graph, steps_to(self._graph, [site]), CPU_PLUGIN, Assumption())
        return analysis.outcome(site) is Outcome.IN_BOUNDS

    def in_bounds(self, gathers: Sequence[Node]) -> list[Node]:
        """Return the gathers whose indices are all proved to be in bounds."""
        analysis, pairs = self._analysed(gathers)
        return [node for node, site in pairs if analysis.outcome(site) is Outcome.IN_BOUNDS]

    def counted_from_start(self, gathers: Sequence[Node]) -> list[Node]:
        """Return the gathers by tuples that are in bounds, with only first coordinates negative, for finite inputs."""
        reals = [name for name, key in self._graph.inputs.items() if not is_integer(self._graph.declared(key).element_type)]
        analysis, pairs = self._analysed(gathers, Assumption({Elements(name): Interval(-FINITE, FINITE) for name in reals}))
        found = []
        for node, site in pairs:
            wanted = analysis.demands(site)
            if isinstance(wanted, Obstacle) or analysis.outcome(site) is not Outcome.IN_BOUNDS:
                continue
            if all(demand.indices.low >= 0 for demand in wanted[1:]):
                found.append(node)
        return found

    def _analysed(self, gathers: Sequence[Node], given: Assumption | None = None) -> tuple[Analysis, list[tuple[Node, Site]]]:
        wanted = {gather.get_instance_id() for gather in gathers}
        found = ((node.handle, site) for node, site in self._graph.nodes_with_sites)
        pairs = [(node, site) for node, site in found if node.get_instance_id() in wanted]
        steps = steps_to(self._graph, [site for _, site in pairs])
        return analyse(self._graph, steps, CPU_PLUGIN, given or Assumption()), pairs

    @cached_property
    def _source(self) -> OpenvinoGraph:
        return OpenvinoGraph(self._model)

    @cached_property
    def _graph(self) -> AnalysedGraph:
        return AnalysedGraph(self._source)
