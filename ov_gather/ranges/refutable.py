"""The sites that may be out of bounds in every run: few, so that `validate` seldom analyses what a model computes far away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ov_gather.graph.protocol import Key, Node
from ov_gather.ops.table import OPENVINO
from ov_gather.ranges.analysis import Assumption, Outcome, analyse, has_open_axes, steps_to
from ov_gather.ranges.graph import AnalysedGraph, operands
from ov_gather.ranges.origins import Question
from ov_gather.ranges.rules.call import Semantics
from ov_gather.ranges.sites import Site
from ov_gather.system.traversal import depth_first

NEAR = 8
"""Steps back from a site that are analysed first. The lengths of a sequence are the size of its tensor 4 to 6 steps before."""


def refutable(graph: AnalysedGraph, semantics: Semantics, sites: Iterable[Site]) -> list[Site]:
    """Return the sites that an analysis of the whole model may refute.

    1. Indices that may all be 0 are in bounds in some runs.
    2. An analysis of what is near a site, with any value for what is further away, proves no more than one of all, and what it
       proves is never refuted.
    3. An analysis without doubts, which add values and take away none, refutes all that one with doubts does.
    """
    possible = [site for site in sites if site.can_be_checked and not _may_be_in_bounds(graph, site)]
    believing = replace(semantics, reads_out_of_bounds=False)
    near = _near(graph, possible)
    whole = analyse(graph, near, believing, Assumption())
    possible = [site for site in possible if whole.outcome(site) is not Outcome.IN_BOUNDS]
    steps = steps_to(graph, possible)
    if not set(near).issuperset(steps):
        whole = analyse(graph, steps, believing, Assumption())
    return [site for site in possible if whole.outcome(site) is Outcome.OUT_OF_BOUNDS]


def _near(graph: AnalysedGraph, sites: Sequence[Site]) -> Sequence[Node]:
    """Return the steps at most NEAR before the sites outside of bodies that have transfer functions, in topological order."""
    outside = [site for site in sites if site.within is None]
    wanted = [key for site in outside for key in (*site.wanted, *([site.data] if has_open_axes(graph, site) else []))]
    near: set[Node] = set()
    level: Iterable[Key] = wanted
    for _ in range(NEAR):
        steps = {step for step in map(graph.producer, level) if step is not None and graph.rule(step)} - near
        near |= steps
        level = [key for step in steps for key in operands(graph, step)]

    def producers(keys: Iterable[Key]) -> Iterator[Node]:
        return (step for step in map(graph.producer, keys) if step in near)

    return list(depth_first(producers(wanted), lambda step: producers(operands(graph, step))))


def _may_be_in_bounds(graph: AnalysedGraph, site: Site) -> bool:
    """Return True if all indices may be 0 as far as an analysis can know, and no axis of the data is declared empty."""
    dims = graph.graph.shape_of(site.data).dims or ()
    return all(dim.upper != 0 for dim in dims) and not _consists_of_others(graph, site.indices)


def _moved(graph: AnalysedGraph, key: Key) -> Sequence[Key]:
    """Return the tensors whose elements a tensor consists of; none if it is computed."""
    step = graph.producer(key)
    meaning = None if step is None else OPENVINO[step.type].meaning if step.type in OPENVINO else None
    if step is None or meaning is None or not meaning.rearranges:
        return ()
    return [one for position, one in enumerate(step.inputs) if one is not None and position in meaning.sources]


def _is_other(graph: AnalysedGraph, key: Key) -> bool:
    """Return True unless elements are moved, or may be 0: those of inputs, places that something is at, series from 0."""
    node = graph.graph.producer(key)
    if node is None:
        return True
    rule = OPENVINO[node.type].rule
    if node.type == "Parameter" or rule == "non_zero":
        return bool(node.path)
    if rule == "top_k":
        return key != node.outputs[-1]
    if rule == "count_up" and node.inputs and node.inputs[0] is not None:
        start = graph.graph.constant(node.inputs[0])
        return start is None or bool(start.any())
    return not _moved(graph, key)


_consists_of_others = Question("consists of others", _is_other, _moved)
"""Whether some elements of a tensor are computed, or constant, so that they may never be 0."""
