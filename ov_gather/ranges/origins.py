"""Questions about what a tensor is computed from. No bounds matter to the answers, so that they hold in each analysis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ov_gather.graph.protocol import Key
from ov_gather.ranges.algebra.values import is_integer
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.system.traversal import reachable


@dataclass(frozen=True)
class Question:
    """Whether a tensor, or one that it is computed from, has a property.

    Attributes:
        name: its name, by which a graph keeps the answers: a chain of n operations is walked once, and not n times.
        holds: the property.
        before: the tensors, of those that a tensor is computed from, to which the question is passed on.
    """

    name: str
    holds: Callable[[AnalysedGraph, Key], bool]
    before: Callable[[AnalysedGraph, Key], Sequence[Key]]

    def __call__(self, graph: AnalysedGraph, key: Key | None) -> bool:
        """Return the answer; False for an operand that is absent."""
        answers = graph.answers.setdefault(self.name, {})
        found = answers.get(key)
        return self._searched(graph, key, answers) if found is None else found

    def _searched(self, graph: AnalysedGraph, key: Key | None, answers: dict[Key, bool]) -> bool:
        seen: list[Key] = []
        start = [] if key is None else [key]
        for one in reachable(start, lambda one: () if answers.get(one) is False else self.before(graph, one)):
            answer = answers.get(one)
            if answer or (answer is None and self.holds(graph, one)):
                answers[key] = True
                return True
            seen.append(one)
        answers.update(dict.fromkeys(seen, False))
        return False


def of_integers(name: str, holds: Callable[[AnalysedGraph, Key], bool], without: Collection[str]) -> Question:
    """Build a question that is passed on from integers to integers, but not by operations of the types `without`."""

    def before(graph: AnalysedGraph, key: Key) -> list[Key]:
        step = graph.producer(key)
        given = () if step is None or step.type in without or not is_integer(graph.element_type(key)) else step.inputs
        return [one for one in given if one is not None and is_integer(graph.element_type(one))]

    return Question(name, lambda graph, key: is_integer(graph.element_type(key)) and holds(graph, key), before)
