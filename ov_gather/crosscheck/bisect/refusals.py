"""Binary search for the first node with which a side refuses its model, or crashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ov_gather.crosscheck.bisect.graphs import Node, Value
from ov_gather.crosscheck.bisect.sides import Side
from ov_gather.ir.states import STATES
from ov_gather.runtimes.base import FAILURES


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


def _ends(nodes: Sequence[Node]) -> list[Value]:
    """Return the values of some nodes that none of these nodes uses."""
    used = {value for node in nodes for value in node.inputs}
    ends = [value for node in nodes for value in node.outputs if value not in used]
    return ends or [nodes[-1].outputs[0]]
