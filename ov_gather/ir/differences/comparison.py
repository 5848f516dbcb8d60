"""Comparison of matched nodes: changes, and the differences of types and shapes that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest

from ov_gather.ir.differences.changes import IRChange
from ov_gather.ir.differences.constants import constant_text, contrast
from ov_gather.ir.differences.graph import CONSTANT, EXACT, OPEN, DiffGraph, DiffNode, GraphMaker, Slot, port_text
from ov_gather.ir.differences.matching import NONE, Matching
from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Port

_FAR = 1000
"""Most nodes that are searched upstream for a match, through operations that only one model has."""
_ABSENT: Slot = (OPEN, NONE)

Use = tuple[int, int]
"""The index of a node, and the position of its input."""


class LayerComparison:
    """The differences between two graphs, including the bodies in them."""

    def __init__(self, maker: GraphMaker, a: DiffGraph, b: DiffGraph, *, follows: bool = False) -> None:
        """Compare two graphs. `follows`: they are bodies of a layer that differs, or that a different layer feeds."""
        self.a, self.b = a, b
        self.changes: list[IRChange] = []
        self.consequences: list[IRChange] = []
        self.same = 0
        self._maker = maker
        matching = Matching(maker, a, b)
        self._to_b, self._to_a = matching.to_b, matching.to_a
        self._uses = self._uses_of_other_constants()
        self._compare(follows)

    def _compare(self, all_follow: bool) -> None:
        differs = [True] * len(self.a.nodes)
        for i, j in enumerate(self._to_b):
            node = self.a.nodes[i]
            if j == NONE:
                self.changes.append(IRChange("removed", a=_location(self.a, node.layer)))
                continue
            other = self.b.nodes[j]
            follows = all_follow or self._is_fed_by_other(node, other, differs)
            if node.keys[EXACT] == other.keys[EXACT] and not node.bodies and self._has_same_sources(node, other):
                differs[i] = follows
                self.same += 1
                continue
            found = len(self.changes), len(self.consequences)
            self.changes += self._changes(i, j)
            is_other = len(self.changes) > found[0] or bool(_other_constants(node, other))
            self._compare_bodies(node, other, follows or is_other)
            is_other = is_other or (len(self.changes), len(self.consequences)) > found
            (self.consequences if follows or is_other else self.changes).extend(self._outputs(node, other))
            is_other = is_other or (len(self.changes), len(self.consequences)) > found
            differs[i] = follows or is_other
            self.same += not is_other
        for j, i in enumerate(self._to_a):
            if i == NONE:
                self.changes.append(IRChange("added", b=_location(self.b, self.b.nodes[j].layer)))

    def _is_fed_by_other(self, node: DiffNode, other: DiffNode, differs: Sequence[bool]) -> bool:
        return any(producer >= 0 and differs[producer] for producer, _ in node.slots) or any(
            producer >= 0 and self._to_a[producer] == NONE for producer, _ in other.slots
        )

    def _has_same_sources(self, node: DiffNode, other: DiffNode) -> bool:
        return all(
            first == second if first[0] < 0 else (self._to_b[first[0]], first[1]) == second
            for first, second in zip(node.slots, other.slots, strict=True)
        )

    def _changes(self, i: int, j: int) -> Iterator[IRChange]:
        """Yield the changes of a node itself: operation, role, attributes, inputs."""
        node, other = self.a.nodes[i], self.b.nodes[j]
        here = IRChange("operation", _location(self.a, node.layer), _location(self.b, other.layer))
        names = [f"{layer.type} {layer.version or ''}".rstrip() for layer in (node.layer, other.layer)]
        if names[0].lower() != names[1].lower():
            yield replace(here, before=names[0], after=names[1])
        if node.role != other.role:
            yield replace(here, kind="attribute", what="port map", before=node.role, after=other.role)
        for name in sorted(node.attributes.keys() | other.attributes.keys()):
            before, after = node.attributes.get(name, ""), other.attributes.get(name, "")
            if before != after:
                yield replace(here, kind="attribute", what=name, before=before, after=after)
        for position, (first, second) in enumerate(zip_longest(node.slots, other.slots, fillvalue=_ABSENT)):
            if first[0] == second[0] == CONSTANT:
                if first != second:
                    yield from self._constants((i, position), (j, position))
            elif not self._is_same_source(first, second):
                before, after = _source(self.a, node, position), _source(self.b, other, position)
                yield replace(here, kind="input", what=f"{position}", before=before, after=after)

    def _uses_of_other_constants(self) -> dict[tuple[int, int], list[Use]]:
        """Map the ids of two Consts that differ to all inputs that the first one feeds in A and the second one in B."""
        uses: dict[tuple[int, int], list[Use]] = {}
        for i, j in enumerate(self._to_b):
            if j != NONE:
                node, other = self.a.nodes[i], self.b.nodes[j]
                for position in _other_constants(node, other):
                    pair = _constant(self.a, node, position).id, _constant(self.b, other, position).id
                    uses.setdefault(pair, []).append((i, position))
        return uses

    def _constants(self, first: Use, second: Use) -> Iterator[IRChange]:
        """Report a pair of constants that differ, once, at the first input that they feed."""
        node, other = self.a.nodes[first[0]], self.b.nodes[second[0]]
        a, b = _constant(self.a, node, first[1]), _constant(self.b, other, second[1])
        uses = self._uses[a.id, b.id]
        if uses[0] == first:
            before, after, detail = contrast(self.a.model, a, self.b.model, b)
            places = [] if a is node.layer else [f"input {first[1]} of {_short(node.layer)}"]
            if len(uses) > 1:
                places.append(f"{len(uses) - 1} more")
            text = "; ".join(filter(None, [" and ".join(places), detail]))
            yield IRChange("constant", _location(self.a, a), _location(self.b, b), text, before, after)

    def _is_same_source(self, first: Slot, second: Slot) -> bool:
        """Return True if both inputs have the same source, apart from changes that are reported at the sources themselves."""
        (p, m), (q, n) = first, second
        if p < 0 or q < 0:
            return first == second
        if m == n and (self._to_b[p] == q or self._values[0][p] == self._values[1][q]):
            return True
        if self._to_b[p] == NONE:
            return self._to_a[q] == NONE or _leads_to(self.a.nodes, p, self._to_b, q)
        return self._to_a[q] == NONE and _leads_to(self.b.nodes, q, self._to_a, p)

    @cached_property
    def _values(self) -> tuple[list[int], list[int]]:
        """Number the nodes of both graphs so that nodes that compute the same from the same inputs have equal numbers."""
        inputs = {i: self._maker.number("input", i) for i, j in enumerate(self._to_b) if _is_input(self.a, i) and j != NONE}
        of_b = {self._to_b[i]: number for i, number in inputs.items()}
        return self._maker.upwards(self.a, EXACT, inputs), self._maker.upwards(self.b, EXACT, of_b)

    def _compare_bodies(self, node: DiffNode, other: DiffNode, follows: bool) -> None:
        of_b = {body.model.tag: body for body in other.bodies}
        for body in node.bodies:
            if body.model.tag in of_b:
                inner = LayerComparison(self._maker, body, of_b[body.model.tag], follows=follows)
                self.changes += inner.changes
                self.consequences += inner.consequences
                self.same += inner.same

    def _outputs(self, node: DiffNode, other: DiffNode) -> Iterator[IRChange]:
        for position, ports in enumerate(zip_longest(node.layer.outputs, other.layer.outputs)):
            before, after = _port(node.layer, ports[0]), _port(other.layer, ports[1])
            if before != after:
                here = IRChange("type", _location(self.a, node.layer), _location(self.b, other.layer), f"of output {position}")
                if before[0] != after[0]:
                    yield replace(here, before=before[0], after=after[0])
                if before[1] != after[1]:
                    yield replace(here, kind="shape", before=before[1], after=after[1])


def _other_constants(node: DiffNode, other: DiffNode) -> list[int]:
    """Return the positions of the inputs that different constants feed."""
    slots = enumerate(zip(node.slots, other.slots, strict=False))
    return [position for position, (first, second) in slots if first[0] == second[0] == CONSTANT and first != second]


def _port(layer: Layer, port: Port | None) -> tuple[str, str]:
    return port_text(layer, port) if port else ("", "")


def _is_input(graph: DiffGraph, i: int) -> bool:
    """Return True if a node's value comes from outside: two such nodes differ even if nothing else distinguishes them."""
    return graph.nodes[i].layer.type in ("Parameter", "ReadValue")


def _location(graph: DiffGraph, layer: Layer) -> Location:
    return Location(graph.model.path, layer.line, layer.id, layer.name, layer.type, subgraph_path=graph.path)


def _short(layer: Layer) -> str:
    return f"{layer.type} '{layer.name}'"


def _constant(graph: DiffGraph, node: DiffNode, position: int) -> Layer:
    """Return the Const that feeds an input. A Const that feeds nothing is a node, and its own input."""
    if node.layer.type == "Const":
        return node.layer
    source = graph.model.producer(node.layer, node.layer.inputs[position])
    assert source is not None  # the node has a constant there
    return source[0]


def _source(graph: DiffGraph, node: DiffNode, position: int) -> str:
    """Describe the source of an input for people."""
    producer, output = node.slots[position] if position < len(node.slots) else _ABSENT
    if producer == CONSTANT:
        return f"constant {constant_text(graph.model, _constant(graph, node, position))}"
    if producer < 0:
        return ""
    source = graph.nodes[producer]
    role = f" ({source.role})" if source.role not in ("", source.layer.name) else ""
    return _short(source.layer) + role + (f", output {output}" if len(source.layer.outputs) > 1 else "")


def _leads_to(nodes: Sequence[DiffNode], start: int, match: Sequence[int], target: int) -> bool:
    """Return True if the match of `target` feeds the node `start`, through unmatched nodes only."""
    waiting, seen = [start], {start}
    while waiting and len(seen) < _FAR:
        for producer, _ in nodes[waiting.pop()].slots:
            if producer >= 0 and producer not in seen:
                if match[producer] == target:
                    return True
                seen.add(producer)
                if match[producer] == NONE:
                    waiting.append(producer)
    return False
