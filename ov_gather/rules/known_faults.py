"""7xx: known faults of OpenVINO that a model meets by its structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.register import KNOWN
from ov_gather.ranges.known_faults import FaultFinder
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.releases import RELEASES, is_before

RULE_OF = {Effect.WRONG: "OVG710", Effect.FATAL: "OVG711", Effect.DEPENDS: "OVG712"}
"""The rule that reports the faults with an effect."""


@dataclass(frozen=True)
class Executed:
    """A whole model, and the release that shall execute it; is_named is False if it is only the newest one known."""

    graph: IrGraph
    release: str
    is_named: bool

    @classmethod
    def by(cls, graph: IrGraph, release: str) -> Executed:
        """Return the model with the release of that name, or with the newest known one if the name is empty."""
        return cls(graph, release or RELEASES[-1], bool(release))

    @cached_property
    def met(self) -> Sequence[tuple[KnownFault, Node]]:
        """The faults of this release, and the nodes that meet them; for some inputs, too, if the release is named."""
        faults = [fault for fault in KNOWN if self._has(fault) and (self.is_named or fault.effect is not Effect.DEPENDS)]
        return list(FaultFinder(self.graph).found(faults))

    def _has(self, fault: KnownFault) -> bool:
        starts = not fault.since or not is_before(self.release, fault.since)
        return starts and (not fault.before or is_before(self.release, fault.before))


def _violations(executed: Executed, effect: Effect) -> Iterator[Violation]:
    for fault, node in executed.met:
        if fault.effect is not effect:
            continue
        message = f"{fault.instead} (OpenVINO {executed.release})"
        yield Violation.at(node.handle, message, fault.hint, subgraph_path=node.path)


@rule("OVG710", Executed, Severity.WARNING)
def known_wrong_result(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin computes wrong results for a layer, by a known fault.

    The finding says what comes out instead, and how to write the model so that it is right; `ov-gather explain`
    with the name of the fault tells more. With --target, the faults are those of that release, else of the newest one known.
    """
    yield from _violations(executed, Effect.WRONG)


@rule("OVG711", Executed, Severity.WARNING)
def known_crash(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin ends the process at a layer, or refuses the model, by a known fault.

    The finding says how to write the model so that it can be executed; `ov-gather explain` with the name of
    the fault tells more. With --target, the faults are those of that release, else of the newest one known.
    """
    yield from _violations(executed, Effect.FATAL)


@rule("OVG712", Executed, Severity.NOTE, unless=lambda executed: not executed.is_named)
def known_for_some_inputs(executed: Executed) -> Iterator[Violation]:
    """OpenVINO's CPU plugin computes wrong results for a layer for some values or sizes of inputs, by a known fault.

    Examples are integers beyond 2^24 that are computed in float32, and axes that may be empty. Range analysis leaves out layers
    whose integers are small for every input. Declare what is known of the inputs, or follow the hint. This rule runs only with
    --target.
    """
    yield from _violations(executed, Effect.DEPENDS)
