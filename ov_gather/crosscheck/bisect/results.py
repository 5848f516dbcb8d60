"""This module tells what a bisection came to: where two models part, and what was done to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ov_gather.crosscheck.bisect.records import OutputCompared, Parting
from ov_gather.crosscheck.results import Environment
from ov_gather.tables import InNotebooks

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class BisectResult(InNotebooks):
    """What came out of a bisection.

    Attributes:
        reference, model: the paths.
        partings: where the models part, the first one first.
        outputs: how the outputs compare.
        runs: how often the model was executed until the first parting was found; `nodes` is how many nodes it has.
        notes: what could not be compared, and why.
        setting: what executed the model, in words.
        seed: what the inputs were made up with; None where they were given.
        not_run: why nothing could be compared; "" if something was.
    """

    reference: str
    model: str
    partings: tuple[Parting, ...] = ()
    outputs: tuple[OutputCompared, ...] = ()
    runs: int = 0
    nodes: int = 0
    notes: tuple[str, ...] = ()
    not_run: str = ""
    environment: Environment = field(default_factory=Environment)
    setting: str = ""
    seed: int | None = None
    input_shapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the models were compared, and nowhere part."""
        return not self.partings and not self.not_run and all(not output.outcome or output.excuse for output in self.outputs)

    @property
    def node(self) -> str:
        """The node that is to blame for the first difference; "" if there is none."""
        return self.partings[0].node if self.partings else ""

    @property
    def reproducer(self) -> str:
        """The folder that holds the smallest model that shows the first difference; "" if there is none."""
        return self.partings[0].reproducer if self.partings else ""

    def table(self) -> Table:
        """Return a table for `rich.print`: what goes into the nodes that are to blame, and what comes out."""
        from ov_gather.crosscheck.bisect.tables import partings_table

        return partings_table(self.partings)
