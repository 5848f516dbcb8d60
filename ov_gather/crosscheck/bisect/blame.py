"""Tracing of wrong outputs to the guilty nodes, and the description of each as a Culprit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.body_trace import BodyTrace, Culprits, follow
from ov_gather.crosscheck.bisect.comparer import Comparer, is_left_open, is_rounding, is_rounding_of_fused, left_by_quantisation
from ov_gather.crosscheck.bisect.reproducer import IsShown, Piece, Replay, Written, write_reproducer
from ov_gather.crosscheck.bisect.results import ComparedValue, Culprit
from ov_gather.crosscheck.bisect.rounding import difference
from ov_gather.crosscheck.bisect.search import Refusal, Search, SearchResult
from ov_gather.crosscheck.bisect.surroundings import surroundings
from ov_gather.crosscheck.results import Difference
from ov_gather.graph.protocol import Key, Node
from ov_gather.runtimes.base import FAILURES
from ov_gather.runtimes.configured import Setting
from ov_gather.system.worker import CrashedError

_UNSHOWN = " Written to disk and executed by `ov-gather bisect`, it does not show the fault, so that no reproducer is kept."

EXCUSES = 3
"""Number of excused differences after which an output of a quantised model is compared with the model in floats."""


@dataclass(frozen=True)
class Suspect:
    """A difference whose nodes may be guilty.

    Attributes:
        excuse: why the difference is not their fault; "" if it may be.
        followed: the result of following the difference into their body.
        near: the piece that shows the fault alone, if there is one.
    """

    found: SearchResult
    excuse: str = ""
    followed: BodyTrace = field(default_factory=BodyTrace)
    near: Piece | None = None


@dataclass(frozen=True)
class Blame:
    """Builds Culprits.

    Attributes:
        directory: the parent directory of reproducers; None for no reproducers.
        is_shown: executes a reproducer.
        of_body: yields the culprits of two bodies.
        open_orders: nodes that returned their results in another, permitted order.
        quantised: the differences that quantisations of the reference permit, in words.
    """

    comparer: Comparer
    search: Search
    setting: Setting
    directory: Path | None
    is_shown: IsShown
    of_body: Culprits
    open_orders: dict[str, None] = field(default_factory=dict)
    quantised: dict[str, None] = field(default_factory=dict)

    def for_output(self, wrong: Key) -> tuple[Culprit | None, str, Key]:
        """Trace a wrong output to a Culprit; return it with its value, or None with an excuse and the output.

        Raises RefusedError, CrashedError, IndexError if the model cannot be executed with more outputs.
        """
        replay = Replay(self.comparer, self.search)
        passed_over: list[Suspect] = []
        equal = set(self.search.equal)
        excused = 0
        while True:
            suspect = self._suspect(replay, self.search.first_difference(wrong), wrong)
            found = suspect.found
            if suspect.excuse:
                if found.value != wrong and not found.healed_by:
                    self.search.equal.add(found.value)
                    excused += 1
                    is_asked = excused == EXCUSES and not passed_over  # each layer may round some elements otherwise
                    if is_asked and (words := self.comparer.within_quantisation(wrong)):
                        return None, f"{suspect.excuse}; the output differs by {words}", wrong
                    continue
                # The excuse used the model's operands, which include effects of suspects passed over.
                if passed_over and self.comparer.is_cause([each.found.value for each in passed_over], wrong):
                    suspect = passed_over[0]
                    break
                if passed_over:  # they may still explain another output
                    self.search.equal = equal
                return None, suspect.excuse, wrong
            if found.healed_by or found.value == wrong or self.comparer.is_cause([found.value], wrong):
                if suspect.near is None and passed_over:  # only together they are the cause
                    suspect = passed_over[0]
                break
            passed_over.append(suspect)
            self.search.equal.add(found.value)
        return self._blamed(replay, suspect), "", suspect.found.value

    def _suspect(self, replay: Replay, found: SearchResult, wrong: Key) -> Suspect:
        """Look for an excuse for a difference; if there is none, execute its nodes alone."""
        node = self._node(found.value)
        if found.healed_by and is_rounding_of_fused(self.comparer, found, wrong):
            return Suspect(found, f"the reference computes this, too, if the operands of {node} are off by rounding")
        if not found.healed_by and is_rounding(self.comparer, found):
            orders = "".join(f", or in an order that {other} leaves open" for other in self.open_orders)
            orders += "".join(f"; {text}" for text in self.quantised)
            return Suspect(found, f"{node} computes this in the reference, too, for operands that are off by rounding{orders}")
        if not found.healed_by and (words := left_by_quantisation(self.comparer, found)):
            self.quantised[f"{node} {words}"] = None
            return Suspect(found, f"{node} {words}")
        if not found.healed_by and is_left_open(self.comparer, found):
            self.open_orders[node] = None
            return Suspect(found, f"{node} may return its results in this order, too")
        followed = follow(self.comparer, found.value, self.of_body)
        if followed.excuse and not found.healed_by:
            return Suspect(found, followed.excuse)
        return Suspect(found, "", followed, replay.piece_alone(found))

    def _blamed(self, replay: Replay, suspect: Suspect) -> Culprit:
        """Build the Culprit of a suspect: the one inside its body if there is any, else that of the suspect itself."""
        within = suspect.followed.culprit
        if within is not None and (within.reproducer or self.directory is None):
            return within
        around = self._around(replay, suspect.found, suspect.near)
        if within is None:
            return replace(around, detail=" ".join(filter(None, (around.detail, suspect.followed.description))))
        if not around.reproducer:
            return within
        detail = f"{within.detail.removesuffix(_UNSHOWN)} The reproducer has the whole of {around.node}."
        return replace(within, detail=detail, reproducer=around.reproducer, command=around.command)

    def _around(self, replay: Replay, found: SearchResult, near: Piece | None) -> Culprit:
        """Build a Culprit from the piece that shows the fault alone, or from the smallest larger one that does."""
        if near is not None:
            is_alone = not found.healed_by and len(near.nodes) == len(found.nodes)
            return self._culprit("node" if is_alone else "fusion", found, near)
        piece = replay.piece_grown(found)
        return self._culprit("fusion" if piece or found.healed_by else "context", found, piece)

    def for_refusal(self, refusal: Refusal, is_reference: bool) -> Culprit:
        """Build the Culprit of a node that one side refuses, or crashes in, and the other executes."""
        kind = "crash" if isinstance(refusal.error, CrashedError) else "refusal"
        graph, pairs = self.comparer.model.graph, self.comparer.pairs.reference
        if is_reference:
            values = [ours for ours, theirs in pairs.items() if theirs in refusal.node.outputs]
            detail = f"the reference refuses it, and the model does not: {refusal.error}"
        else:
            values = [ours for ours in refusal.node.outputs if ours in pairs]
            detail = f"the model {'crashes' if kind == 'crash' else 'refuses it'}, and the reference does not: {refusal.error}"
        if not values:
            side = self.comparer.reference if is_reference else self.comparer.model
            label = side.graph.label(refusal.node.outputs[0])
            node, output = str(refusal.node), ComparedValue(label, "", "", "", str(refusal.error))
            return Culprit(kind, node, (node,), "", (), output, (), detail)
        value = values[0]
        written = self._written(self._refused_piece(value, is_reference))
        node = str(graph.producers.get(value, refusal.node))
        other = str(self.comparer.reference.graph.producers.get(pairs[value], ""))
        output = ComparedValue(graph.label(value), "", "", "", str(refusal.error))
        records = tuple(map(self.comparer.record, self.search.region(value).sources))
        near = surroundings(graph, value, frozenset())
        detail += written.note
        return Culprit(kind, node, (node,), other, records, output, (), detail, written.folder, written.command, near)

    def _refused_piece(self, value: Key, is_reference: bool) -> Piece | None:
        """Return the node alone, if the same side refuses it in isolation."""
        try:
            piece = Replay(self.comparer, self.search).refused(value, list(self.search.region(value).sources))
        except FAILURES:
            return None
        return piece if piece is not None and piece.is_refused_by_reference == is_reference else None

    def _culprit(self, kind: str, found: SearchResult, piece: Piece | None) -> Culprit:
        nodes = piece.nodes if piece is not None else found.nodes
        wrong = list(self._wrong_constants(found, nodes))
        other = self.comparer.reference.graph.producers.get(self.comparer.pairs.reference[found.value])
        alike = [node for node in nodes if other is not None and node.type == other.type]
        node = next((str(node) for node, _ in wrong), str(alike[-1]) if alike else self._node(found.value))
        written = self._written(piece)
        return Culprit(
            kind,
            node,
            tuple(map(str, nodes)),
            str(other or ""),
            tuple(map(self.comparer.record, found.sources)),
            self.comparer.record(found.value),
            tuple(text for _, text in wrong),
            self._detail(kind, found, piece) + written.note,
            written.folder,
            written.command,
            surroundings(self.comparer.model.graph, found.value, frozenset(filter(self._is_equal, found.sources))),
        )

    def _is_equal(self, value: Key) -> bool:
        return self.comparer.record(value).outcome == "equal"

    def _detail(self, kind: str, found: SearchResult, piece: Piece | None) -> str:
        label = self.comparer.model.graph.label
        if found.healed_by:
            values = ", ".join(f"'{label(value)}'" for value in found.healed_by)
            text = f"The fault vanishes as soon as {values} is observed: what is fused across it is wrong."
            return text if piece is None else f"{text} Executed alone on the values of the reference, these nodes show it."
        if kind == "node":
            return "Executed alone on the values of the reference, it shows the fault."
        if kind == "fusion" and piece is not None and set(piece.sources) <= set(found.sources):
            return (
                "Executed alone on the values of the reference, these nodes show the fault. They are right if values that do "
                "not depend on the inputs of the model are given to them."
            )
        if kind == "fusion":
            return "Alone it is right on the values of the reference; together with the nodes before it, it is wrong."
        return "Alone it is right on the values of the reference: only the whole model shows the fault."

    def _written(self, piece: Piece | None) -> Written:
        """Write the reproducer of a piece; return a note if the piece shows the fault here, but its reproducer does not."""
        if piece is None or self.directory is None:
            return Written()
        written = write_reproducer(piece, self.comparer, self.setting, self.directory, self.is_shown)
        return written if written.command else Written(note=_UNSHOWN)

    def _node(self, value: Key) -> str:
        graph = self.comparer.model.graph
        return str(graph.producers.get(value, f"Const '{graph.constants.get(value, graph.label(value))}'"))

    def _wrong_constants(self, found: SearchResult, nodes: Sequence[Node]) -> Iterator[tuple[Node, str]]:
        """Yield nodes with a constant that differs from the reference, and the difference."""
        model, reference = self.comparer.model, self.comparer.reference
        named = {name: value for value in reference.graph.constants for name in reference.graph.names.get(value, ())}
        other = reference.graph.producers.get(self.comparer.pairs.reference[found.value])
        nearby = [] if other is None else [value for value in other.sources if value in reference.graph.constants]
        for node in nodes:
            for value in node.sources:
                here = model.constant(value) if value in model.graph.constants else None
                if here is None:
                    continue
                known = [named[name] for name in model.graph.names.get(value, ()) if name in named]
                different = self._least_difference(known or nearby, here)
                if different:
                    yield node, f"constant '{model.graph.constants[value]}': {different}"

    def _least_difference(self, candidates: Sequence[Key], here: NDArray[Any]) -> Difference | None:
        """Return the least difference from candidate constants, also transposed; None if one is equal, or none similar."""
        found = []
        for value in candidates:
            expected = self.comparer.reference.constant(value)
            for array in () if expected is None else (expected, expected.T):
                if array.shape == here.shape and array.dtype.kind == here.dtype.kind:
                    different = difference(array, here, self.comparer.rounding.share(1))
                    if not isinstance(different, Difference):
                        return None
                    found.append(different)
        least = min(found, key=lambda each: each.count, default=None)
        return least if least is not None and 2 * least.count <= least.size + 1 else None
