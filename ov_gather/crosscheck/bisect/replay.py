"""Execution of the guilty nodes alone, on values of the reference, to show their fault in isolation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.graphs import Node, Value
from ov_gather.crosscheck.bisect.rounding import difference
from ov_gather.crosscheck.bisect.search import Search, SearchResult
from ov_gather.crosscheck.bisect.sides import Given, Part
from ov_gather.crosscheck.comparisons import Difference
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.system.traversal import reachable

LEVELS = 4
"""How often the producers of a piece's inputs are added until the piece shows the fault."""
_FAILURES = (RefusedError, CrashedError, IndexError)


@dataclass(frozen=True)
class Piece:
    """A part of the model with inputs from the reference, and its result.

    Attributes:
        nodes: its nodes.
        part, other: the part, and the same part of the reference; `other` is None if the reference has no such part.
        inputs: the inputs, by name.
        expected: the reference's value.
        difference: the difference of the result; "" if there is none.
        is_refused_by_reference: whether the reference refuses the part, and the model executes it.
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
    """Execution of pieces of a model in isolation."""

    def __init__(self, comparer: Comparer, search: Search) -> None:
        self._comparer, self._search = comparer, search
        self._graph = comparer.model.graph

    def piece_alone(self, found: SearchResult) -> Piece | None:
        """Return the guilty nodes, with constant subgraphs if necessary, as a piece; None if it does not show the fault."""
        return self._first_shown(found, [list(found.sources), self._without_constants(found.sources)])

    def piece_grown(self, found: SearchResult) -> Piece | None:
        """Return the smallest tried piece that shows the fault together with preceding nodes; None if there is none."""
        sources = self._without_constants(found.sources)
        grown = []
        for _ in range(LEVELS):
            sources = self._expanded(sources)
            grown.append(sources)
        return self._first_shown(found, grown)

    def refused(self, value: Value, sources: Sequence[Value]) -> Piece | None:
        """Return the nodes that compute a value as a piece, if exactly one side refuses it."""
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

    def _first_shown(self, found: SearchResult, choices: Sequence[Sequence[Value]]) -> Piece | None:
        for sources in {frozenset(sources): sources for sources in choices}.values():
            piece = self.piece(found.value, sources)
            if piece is not None and piece.difference:
                return piece
        return None

    def _parts(self, value: Value, given: Mapping[Value, Given]) -> tuple[Part | None, Part | None]:
        """Extract the nodes that compute a value from both models."""
        pairs, name = self._comparer.pairs.reference, self._comparer.name(value)
        part = self._comparer.model.part(given, {value: name})
        return part, self._comparer.reference.part(
            {pairs[source]: each for source, each in given.items()}, {pairs[value]: name}
        )

    def piece(self, value: Value, sources: Sequence[Value]) -> Piece | None:
        """Execute the nodes between `sources` and `value`; None if they cannot be extracted, or are refused."""
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
        """Return the nodes between a value and its sources."""

        def inputs(value: Value) -> list[Value]:
            node = self._graph.producers.get(value)
            return [] if node is None else [source for source in node.inputs if source not in sources]

        values = set(reachable([value], inputs))
        return [node for node in self._graph.nodes if not values.isdisjoint(node.outputs)]


def _refuses(part: Part | None, inputs: Sequence[NDArray[Any]]) -> str:
    """Return the error of a part; "" if it executes."""
    try:
        if part is not None:
            part.run(inputs)
    except _FAILURES as error:
        return str(error)
    return ""
