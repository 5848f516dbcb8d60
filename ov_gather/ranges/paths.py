"""The way of an index: from an input or constant to its gather or scatter, with what is known of each value."""

from __future__ import annotations

from collections.abc import Mapping

from ov_gather.graph.excerpts import Excerpt, ExcerptEdge, ExcerptNode
from ov_gather.graph.protocol import Key, Node
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.analysis import Analysis
from ov_gather.ranges.bounds import is_loose, known_range
from ov_gather.ranges.graph import AnalysedGraph, in_order
from ov_gather.ranges.sites import Site
from ov_gather.system.traversal import reachable

_MAX_STEPS = 40
"""Number of values up to which the way is followed, back from the indices."""
_MAX_OTHERS = 3
"""Number of other operands shown at each step."""


def path_to(analysis: Analysis, site: Site) -> Excerpt:
    """Return the site, its data, and the values that its indices are computed from, back to an input or a constant.

    Of several operands, the way follows the first one that nothing is known of, or else the first one that is no constant. The
    others are shown, and not followed.
    """
    drawing = _Drawing(analysis, site)
    drawing.add(site.data, 0, "data")
    entries = _entries(analysis.graph, site)
    key: Key | None = site.indices
    target, label = 0, "indices"
    for _ in range(_MAX_STEPS):
        if key is None:
            return drawing.excerpt()
        is_drawn = key in drawing.positions  # as data, or as an operand of an earlier step
        target, label = drawing.add(key, target, label), ""
        if is_drawn:
            return drawing.excerpt()
        step = analysis.graph.producer(key)
        following = entries.get(key) if step is None else _following(analysis, step)
        others = [] if step is None else [given for given in step.inputs if given not in (None, following)]
        for given in others[:_MAX_OTHERS]:
            drawing.add(given, target, "")
        key = following
    if key is not None:
        drawing.add_rest(target)
    return drawing.excerpt()


class _Drawing:
    """An excerpt that grows."""

    def __init__(self, analysis: Analysis, site: Site) -> None:
        self._analysis = analysis
        self._nodes = [ExcerptNode(site.type, site.name, _obligation(analysis, site))]
        self._edges: list[ExcerptEdge] = []
        self.positions: dict[Key, int] = {}

    def add(self, key: Key, target: int, label: str) -> int:
        """Add a value, unless it is there, and an edge from it; return its position."""
        if key not in self.positions:
            self.positions[key] = len(self._nodes)
            kind, _, name = self._analysis.graph.name_of(key).partition(" '")
            self._nodes.append(ExcerptNode(kind, name.removesuffix("'"), _note(self._analysis, key)))
        self._edges.append(ExcerptEdge(self.positions[key], target, label))
        return self.positions[key]

    def add_rest(self, target: int) -> None:
        """Add a node for what is not followed."""
        self._edges.append(ExcerptEdge(len(self._nodes), target))
        self._nodes.append(ExcerptNode("further operations", "", f"{_MAX_STEPS} steps are shown"))

    def excerpt(self) -> Excerpt:
        return Excerpt(tuple(self._nodes), tuple(self._edges))


def _following(analysis: Analysis, step: Node) -> Key | None:
    """Return the operand that the way goes on with; None if all are constants."""
    given = step.sources
    loose = (key for key in given if (value := _value(analysis, key)) is not None and is_loose(value))
    others = (key for key in given if not _is_constant(analysis.graph, key))
    return next(loose, None) or next(others, None)


def _is_constant(graph: AnalysedGraph, key: Key) -> bool:
    return graph.producer(key) is None and not graph.declared(key).elements.is_any


def _entries(graph: AnalysedGraph, site: Site) -> Mapping[Key, Key | None]:
    """Map the entries of the bodies around a site to the values outside that they receive."""

    def inside(step: Node) -> list[Node]:
        return [inner for body in step.bodies for inner in in_order(graph, graph.ends(body)) if inner.bodies]

    outermost = None if site.within is None else graph.producer(site.within)
    steps = reachable([] if outermost is None else [outermost], inside)
    return {edge.inner: edge.outer for step in steps for body in step.bodies for edge in body.entries}


def _value(analysis: Analysis, key: Key) -> Value | None:
    """Return what the analysis has found of a tensor; None if it has not needed its elements."""
    return analysis.solver.known.get(key)


def _note(analysis: Analysis, key: Key) -> str:
    """Return type, shape and bounds of a value."""
    value = _value(analysis, key)
    declared = value or analysis.graph.declared(key)
    element_type = "?" if declared.element_type is None else declared.element_type.name
    shape = "[...]" if declared.shape is None else f"[{', '.join(map(str, declared.shape))}]"
    return f"{element_type}{shape}" + ("" if value is None else f" {_bounds(value)}")


def _bounds(value: Value) -> str:
    low, high = known_range(value)
    if low is None and high is None:
        return "any value"
    if low == high:
        return f"= {low}"
    if high is None:
        return f">= {low}"
    return f"<= {high}" if low is None else f"in {low}..{high}"


def _obligation(analysis: Analysis, site: Site) -> str:
    """Return the axes that the indices address."""
    wanted = analysis.demands(site)
    if not isinstance(wanted, list):
        return wanted.reason
    return ", ".join(f"axis {check.axis} of size {check.size}" for check in wanted)
