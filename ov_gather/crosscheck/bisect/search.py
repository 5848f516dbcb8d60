"""Binary search for the first value that differs, observing few values per execution; or the first node that is refused.

A value differs because the nodes between it and the nearest comparable values are wrong, or because one of these values
differs. The search therefore goes upwards from a wrong value and stops at equal ones. It observes a cut through the remaining
values: if the whole cut is equal, the values above it are excluded; if a part of it differs, the values below it are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.crosscheck.bisect.sides import Side
from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.states import STATES
from ov_gather.runtimes.base import FAILURES
from ov_gather.system.traversal import reachable

FEW = 8
"""Maximum number of remaining values that are all observed at once, memory permitting, instead of another cut."""


@dataclass(frozen=True)
class CutObservation:
    """The observed values that differ, and whether the wrong output is still wrong."""

    differing: frozenset[Key]
    is_shown: bool = True


@dataclass(frozen=True)
class SearchResult:
    """The first value that differs.

    Attributes:
        value: the value.
        nodes: the nodes that compute the value from `sources`, which are equal.
        healed_by: values whose observation makes the fault vanish; `value` is then the nearest one that depends on them.
    """

    value: Key
    nodes: Sequence[Node]
    sources: Sequence[Key]
    healed_by: Sequence[Key] = ()


@dataclass(frozen=True)
class Region:
    """The nodes between a value and the nearest comparable values above it, which are its sources."""

    nodes: Sequence[Node]
    sources: Sequence[Key]


class Search:
    """Search of one graph.

    Args:
        graph: the graph of the model.
        comparable: the values that can be compared.
        sizes: returns the estimated bytes of a value.
        observe: executes the model once, compares some values, and checks whether a wrong output is still wrong.
        memory: the maximum bytes of values per execution.
    """

    def __init__(
        self,
        graph: ValueGraph,
        comparable: frozenset[Key],
        sizes: Callable[[Key], int],
        observe: Callable[[Sequence[Key], Key], CutObservation],
        memory: int,
    ) -> None:
        self.equal: set[Key] = set()
        self.left = 0
        self._graph, self._sizes, self._observe, self._memory = graph, sizes, observe, memory
        self._ends = comparable | set(graph.inputs.values())
        self._regions: dict[Key, Region] = {}

    def first_difference(self, wrong: Key) -> SearchResult:
        """Return the first value that differs among those that a wrong value depends on."""
        value = wrong
        while above := self._above(value):
            self.left = len(above)
            cut = self._cut(above, value)
            for part in self._parts(cut):
                seen = self._observe(part, wrong)
                if not seen.is_shown:
                    return self._fused(wrong, part)
                self.equal.update(set(part) - seen.differing)
                if seen.differing:
                    value = min(seen.differing, key=self._graph.order.__getitem__)
                    break
        region = self.region(value)
        return SearchResult(value, region.nodes, region.sources)

    def region(self, value: Key) -> Region:
        """Return the nodes between a value and the nearest comparable values above it."""
        if value not in self._regions:
            nodes = self._graph.between(self._ends, value)
            sources = dict.fromkeys(source for node in nodes for source in node.sources if source in self._ends)
            self._regions[value] = Region(self._graph.in_order(nodes), list(sources))
        return self._regions[value]

    def _above(self, value: Key) -> list[Key]:
        """Return the values that may be the origin of a wrong value, in topological order."""
        return sorted(reachable(self._doubtful(value), self._doubtful), key=self._graph.order.__getitem__)

    def _doubtful(self, value: Key) -> list[Key]:
        return [source for source in self.region(value).sources if source in self._graph.producers and source not in self.equal]

    def _cut(self, above: Sequence[Key], wrong: Key) -> list[Key]:
        """Return the smallest cut near the middle: values of the first half that the second half uses."""
        if len(above) <= FEW and sum(map(self._sizes, above)) <= self._memory:
            return list(above)
        last = {}
        for position, value in enumerate([*above, wrong]):
            for source in self.region(value).sources:
                last[source] = position
        cuts = []
        for k in range(max(1, int(len(above) * 0.4)), max(2, int(len(above) * 0.6) + 1)):
            crossing = [value for value in above[:k] if last.get(value, -1) >= k]
            too_much = sum(map(self._sizes, crossing)) > self._memory
            cuts.append((too_much, len(crossing), abs(2 * k - len(above)), crossing))
        return min(cuts, key=lambda cut: cut[:3])[3]

    def _parts(self, cut: Sequence[Key]) -> list[list[Key]]:
        """Split a cut into parts that fit into memory, in order; a value that does not fit is a part of its own."""
        parts: list[list[Key]] = [[]]
        for value in cut:
            if parts[-1] and sum(map(self._sizes, [*parts[-1], value])) > self._memory:
                parts.append([])
            parts[-1].append(value)
        return parts

    def _fused(self, wrong: Key, healing: Sequence[Key]) -> SearchResult:
        """Narrow down the values whose observation heals the fault, and return the nearest value that depends on them."""
        part = list(healing)
        while len(part) > 1:
            half = part[len(part) // 2 :]
            if not self._observe(half, wrong).is_shown:
                part = half
            elif not self._observe(rest := part[: len(part) // 2], wrong).is_shown:
                part = rest
            else:
                break
        behind = [value for value in [*self._above(wrong), wrong] if set(self.region(value).sources) & set(part)]
        value = behind[0] if behind else wrong
        inner = [self.region(healer) for healer in part if healer in self._graph.producers]
        nodes = {node for region in (*inner, self.region(value)) for node in region.nodes}
        sources = dict.fromkeys(source for region in (self.region(value), *inner) for source in region.sources)
        return SearchResult(value, self._graph.in_order(nodes), [source for source in sources if source not in part], part)


def sizes_of(graph: ValueGraph) -> Mapping[Key, int]:
    """Estimate the bytes of values from declared shapes. An open dimension counts as the longest declared one."""
    longest = min(1024, max((size for shape in graph.shapes.values() for size in shape or ()), default=1))
    return {value: 4 * prod(longest if size < 0 else size for size in shape or ()) for value, shape in graph.shapes.items()}


@dataclass(frozen=True)
class Refusal:
    """The first node with which a side fails, and the error."""

    node: Node
    error: Exception


def first_refused(side: Side, error: Exception) -> Refusal:
    """Return the first node in topological order with which a side fails, given the error of the whole model."""
    nodes = side.graph.nodes
    right, wrong = 0, len(nodes)  # the first `right` nodes execute, the first `wrong` do not
    while wrong - right > 1:
        middle = (right + wrong) // 2
        try:
            side.prefix(_ends(nodes[:middle]))
        except FAILURES as found:
            wrong, error = middle, found
        else:
            right = middle
    of_state = _of_state(side) if wrong == len(nodes) else None
    return Refusal(of_state or nodes[wrong - 1], error)


def _of_state(side: Side) -> Node | None:
    """Return a node that uses a state, if all nodes execute without states."""
    node = next((node for node in side.graph.nodes if node.type in STATES), None)
    try:
        return node if node and side.prefix(_ends(side.graph.nodes)) else None
    except FAILURES:
        return None


def _ends(nodes: Sequence[Node]) -> list[Key]:
    """Return the values of some nodes that none of these nodes uses."""
    used = {value for node in nodes for value in node.sources}
    ends = [value for node in nodes for value in node.outputs if value not in used]
    return ends or [nodes[-1].outputs[0]]
