"""Matching of the nodes of two graphs: first nodes with equal surroundings, then their neighbours.

All steps but sorting take linear time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence

from ov_gather.ir.differences.graph import (
    CONSTANT,
    EXACT,
    SAME_ATTRIBUTES,
    SAME_CONSTANTS,
    SAME_TYPE,
    DiffGraph,
    DiffNode,
    GraphMaker,
)

NONE = -1

Pair = tuple[int, int]
"""Indices of two matched nodes, in the first and in the second graph."""


class Matching:
    """The nodes of two graphs that correspond; NONE for nodes without a match.

    `to_b` maps each node of the first graph, `to_a` each node of the second.
    """

    def __init__(self, maker: GraphMaker, a: DiffGraph, b: DiffGraph) -> None:
        self._maker = maker
        self.a, self.b = a, b
        self.to_b, self.to_a = [NONE] * len(a.nodes), [NONE] * len(b.nodes)
        self._surroundings: dict[int, tuple[_Keys, ...]] = {}
        likenesses = (EXACT, SAME_CONSTANTS, SAME_ATTRIBUTES, SAME_TYPE)
        for likeness in likenesses:
            self._match_unique(likeness)
        for likeness in likenesses[:-1]:
            self._match_interchangeable(likeness)
        self._match_moved()
        self._match_replaced()

    def _match_unique(self, likeness: int) -> None:
        """Match nodes whose surroundings are unique in both graphs, then their neighbours."""
        if self._is_complete():
            return
        keys = [*self._keys(likeness)]
        if likeness <= SAME_CONSTANTS:
            keys.append((_keys_with_constants(self.a.nodes, likeness), _keys_with_constants(self.b.nodes, likeness)))
        for of_a, of_b in keys:
            self._link_unique(of_a, of_b)
        self._spread_all(likeness)

    def _is_complete(self) -> bool:
        return NONE not in self.to_b or NONE not in self.to_a

    def _keys(self, likeness: int) -> tuple[_Keys, ...]:
        """Number the surroundings of each node: upstream and downstream, upstream only, downstream only."""
        if likeness not in self._surroundings:
            up = tuple(self._maker.upwards(graph, likeness) for graph in (self.a, self.b))
            down = tuple(self._maker.downwards(graph, likeness) for graph in (self.a, self.b))
            both = tuple([*zip(ups, downs, strict=True)] for ups, downs in zip(up, down, strict=True))
            self._surroundings[likeness] = (both[0], both[1]), (up[0], up[1]), (down[0], down[1])
        return self._surroundings[likeness]

    def _link_unique(self, of_a: Sequence[Hashable], of_b: Sequence[Hashable]) -> None:
        """Match unmatched nodes whose key is unique among the unmatched nodes of both graphs."""
        first = _unique((key, i) for i, key in enumerate(of_a) if self.to_b[i] == NONE)
        second = _unique((key, j) for j, key in enumerate(of_b) if self.to_a[j] == NONE)
        for key, i in first.items():
            j = second.get(key, NONE)
            if i != NONE and j != NONE:
                self._link(i, j)

    def _match_interchangeable(self, likeness: int) -> None:
        """Match nodes that share their surroundings with others, one pair at a time, and then the neighbours of the pair."""
        if self._is_complete():
            return
        for of_a, of_b in self._keys(likeness):
            groups: dict[Hashable, deque[int]] = {}
            for j, key in enumerate(of_b):
                if self.to_a[j] == NONE:
                    groups.setdefault(key, deque()).append(j)
            for i, key in enumerate(of_a):
                group = groups.get(key)
                while group and self.to_b[i] == NONE:
                    j = group.popleft()
                    if self.to_a[j] == NONE:
                        self._link(i, j)
                        self._spread([(i, j)], SAME_ATTRIBUTES)

    def _match_moved(self) -> None:
        """Match the remaining nodes that are unique by themselves, wherever they are."""
        if not self._is_complete():
            self._link_unique(*([node.keys[EXACT] for node in graph.nodes] for graph in (self.a, self.b)))
            self._spread_all(SAME_TYPE)

    def _match_replaced(self) -> None:
        """Match operations of different types if one replaces the other: same sources, and a common consumer."""
        for i, j in enumerate(self.to_b if not self._is_complete() else ()):
            if j == NONE:
                continue
            for (p, _), (q, _) in _common_sources(self.a.nodes[i], self.b.nodes[j]):
                if self._is_free(p, q) and self._have_same_sources(p, q):
                    self._link(p, q)
                    self._spread([(p, q)], SAME_TYPE)

    def _have_same_sources(self, p: int, q: int) -> bool:
        first, second = self.a.nodes[p].slots, self.b.nodes[q].slots
        return len(first) == len(second) and all(
            (self.to_b[x] == y and m == n) if x >= 0 and y >= 0 else x == y
            for (x, m), (y, n) in zip(first, second, strict=True)
        )

    def _spread_all(self, most: int) -> None:
        self._spread([(i, j) for i, j in enumerate(self.to_b) if j != NONE], most)

    def _spread(self, pairs: Iterable[Pair], most: int) -> None:
        """Match the neighbours of matched nodes transitively, those most alike first."""
        waiting = deque(pairs)
        while waiting:
            i, j = waiting.popleft()
            for likeness in range(most + 1):
                for p, q in self._neighbours(i, j, likeness):
                    self._link(p, q)
                    waiting.append((p, q))

    def _neighbours(self, i: int, j: int, likeness: int) -> Iterator[Pair]:
        """Yield candidate pairs: producers of the same input, and unique consumers of the same output at the same input."""
        a, b = self.a.nodes, self.b.nodes
        for (p, _), (q, _) in _common_sources(a[i], b[j]):
            if self._is_free(p, q) and a[p].keys[likeness] == b[q].keys[likeness]:
                yield p, q
        users = _unique_users(a, a[i], self.to_b, likeness)
        if users:
            others = _unique_users(b, b[j], self.to_a, likeness)
            for use, p in users.items():
                q = others.get(use, NONE)
                if p != NONE and q != NONE and self._is_free(p, q):
                    yield p, q

    def _is_free(self, p: int, q: int) -> bool:
        return self.to_b[p] == NONE and self.to_a[q] == NONE

    def _link(self, i: int, j: int) -> None:
        self.to_b[i], self.to_a[j] = j, i


_Keys = tuple[Sequence[Hashable], Sequence[Hashable]]


def _unique(nodes: Iterable[tuple[Hashable, int]]) -> dict[Hashable, int]:
    """Map each key but None to the only node that has it; to NONE if there are several."""
    found: dict[Hashable, int] = {}
    for key, i in nodes:
        found[key] = NONE if key in found else i
    found.pop(None, None)
    return found


def _unique_users(nodes: Sequence[DiffNode], node: DiffNode, matched: Sequence[int], likeness: int) -> dict[Hashable, int]:
    uses = (use for use in node.consumers if matched[use[0]] == NONE)
    return _unique(((position, output, nodes[user].keys[likeness]), user) for user, position, output in uses)


def _common_sources(first: DiffNode, second: DiffNode) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the slots at the same position that read the same output position of some nodes."""
    for one, other in zip(first.slots, second.slots, strict=False):
        if one[0] >= 0 and other[0] >= 0 and one[1] == other[1]:
            yield one, other


def _keys_with_constants(nodes: Sequence[DiffNode], likeness: int) -> list[int | None]:
    """Return the key of each node that has a constant input, if the key is unique in the graph."""
    keys = [node.keys[likeness] if any(producer == CONSTANT for producer, _ in node.slots) else None for node in nodes]
    counts = Counter(keys)
    return [key if counts[key] == 1 else None for key in keys]
