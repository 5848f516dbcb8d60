"""The nodes that are to blame are executed alone, on the values of the reference: what they do then is what they do wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.graphs import Node, Value
from ov_gather.crosscheck.bisect.rounding import difference
from ov_gather.crosscheck.bisect.search import Found, Search
from ov_gather.crosscheck.bisect.sides import Given, Part
from ov_gather.crosscheck.comparisons import Difference
from ov_gather.runtimes.base import CrashedError, RefusedError

LEVELS = 4
"""So often the nodes that feed the guilty ones are added to them, if they show nothing alone."""
_FAILURES = (RefusedError, CrashedError, IndexError)


@dataclass(frozen=True)
class Piece:
    """A Piece is a part of the model with the values of the reference that it is given, and what it makes of them.

    Attributes:
        nodes: the nodes that it has.
        part, other: the part, and the same part of the reference; the latter None where that has no such part.
        inputs: by the names of the inputs.
        expected: what the reference has.
        difference: what differs; "" if nothing does.
        is_refused_by_reference: whether the reference refuses what the model executes.
    """

    nodes: Sequence[Node]
    value: Value
    sources: Sequence[Value]
    part: Part
    other: Part | None
    inputs: dict[str, NDArray[Any]]
    expected: NDArray[Any]
    difference: Difference | str
    is_refused_by_reference: bool = False


class Replay:
    """Executes pieces of a model alone."""

    def __init__(self, comparer: Comparer, search: Search) -> None:
        self._comparer, self._search = comparer, search
        self._graph = comparer.model.graph

    def piece_alone(self, found: Found) -> Piece | None:
        """Return the nodes that are to blame as a piece, if they show the fault alone; with what is constant, if need be."""
        return self._first_shown(found, [list(found.sources), self._without_constants(found.sources)])

    def piece_grown(self, found: Found) -> Piece | None:
        """Return the smallest piece with nodes before them that shows the fault; None if none of those that are tried does."""
        sources = self._without_constants(found.sources)
        grown = []
        for _ in range(LEVELS):
            sources = self._expanded(sources)
            grown.append(sources)
        return self._first_shown(found, grown)

    def refused(self, value: Value, sources: Sequence[Value]) -> Piece | None:
        """Return what computes a value as a piece, if just one side refuses it."""
        pairs = self._comparer.pairs.reference
        arrays = self._comparer.reference.prefix([pairs[source] for source in sources])
        given = {source: Given(self._comparer.name(source), arrays[pairs[source]]) for source in sources}
        part, other = self._parts(value, given)
        inputs = [each.array for each in given.values()]
        refused = [_refuses(part, inputs), _refuses(other, inputs)]
        if part is None or other is None or bool(refused[0]) == bool(refused[1]):
            return None
        named = {each.name: each.array for each in given.values()}
        nodes, nothing = self._nodes(value, sources), np.empty(0)
        return Piece(nodes, value, sources, part, other, named, nothing, refused[0] or refused[1], bool(refused[1]))

    def _first_shown(self, found: Found, choices: Sequence[Sequence[Value]]) -> Piece | None:
        tried: list[set[Value]] = []
        for sources in choices:
            if set(sources) in tried:
                continue
            tried.append(set(sources))
            piece = self.piece(found.value, sources)
            if piece is not None and piece.difference:
                return piece
        return None

    def _parts(self, value: Value, given: Mapping[Value, Given]) -> tuple[Part | None, Part | None]:
        """Cut what computes a value out of both models."""
        pairs, name = self._comparer.pairs.reference, self._comparer.name(value)
        part = self._comparer.model.part(given, {value: name})
        return part, self._comparer.reference.part(
            {pairs[source]: each for source, each in given.items()}, {pairs[value]: name}
        )

    def piece(self, value: Value, sources: Sequence[Value]) -> Piece | None:
        """Execute what computes a value from sources; None where that is no part, or is refused."""
        arrays = self._comparer.values_of_reference([*sources, value])
        given = {source: Given(self._comparer.name(source), arrays[source]) for source in sources}
        part, other = self._parts(value, given)
        if part is None:
            return None
        nodes = self._nodes(value, sources)
        try:
            (output,) = part.run([each.array for each in given.values()])
        except _FAILURES:
            return None
        different = difference(arrays[value], output, self._comparer.rounding.share(len(nodes)))
        inputs = {each.name: each.array for each in given.values()}
        return Piece(nodes, value, sources, part, other, inputs, arrays[value], different)

    def _without_constants(self, sources: Sequence[Value]) -> list[Value]:
        waiting, found = list(sources), dict[Value, None]()
        while waiting:
            value = waiting.pop(0)
            if value in self._graph.computed:
                found[value] = None
            else:
                waiting += self._search.region(value).sources
        return list(found)

    def _expanded(self, sources: Sequence[Value]) -> list[Value]:
        found = dict[Value, None]()
        for source in sources:
            if source in self._graph.producers:
                found |= dict.fromkeys(self._search.region(source).sources)
            else:
                found[source] = None
        return self._without_constants(list(found))

    def _nodes(self, value: Value, sources: Sequence[Value]) -> list[Node]:
        """Collect the nodes between a value and its sources."""
        seen: set[int] = set()
        waiting = [value]
        while waiting:
            node = self._graph.producers.get(waiting.pop())
            if node is not None and id(node) not in seen:
                seen.add(id(node))
                waiting += [source for source in node.inputs if source not in sources]
        return [node for node in self._graph.nodes if id(node) in seen]


def _refuses(part: Part | None, inputs: Sequence[NDArray[Any]]) -> str:
    """Return how a part fails; "" if it does not."""
    try:
        if part is not None:
            part.run(inputs)
    except _FAILURES as error:
        return str(error)
    return ""
