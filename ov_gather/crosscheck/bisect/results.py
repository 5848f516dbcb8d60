"""Result of a bisection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ov_gather.crosscheck.bisect.records import OutputCompared, Parting
from ov_gather.crosscheck.results import Environment
from ov_gather.system.tables import InNotebooks

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class BisectResult(InNotebooks):
    """Result of a bisection.

    Attributes:
        reference, model: the paths.
        partings: the places where the models part, the first one first.
        outputs: the compared outputs.
        runs: executions of the model until the first parting was found.
        nodes: number of nodes of the model.
        notes: what could not be compared, and why.
        setting: runtime, device and precision of the model, in words.
        seed: the seed of generated inputs; None if inputs were given.
        not_run: why nothing was compared; "" if something was.
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
        """Whether the models were compared and no output differs without an excuse."""
        return not self.partings and not self.not_run and all(not output.outcome or output.excuse for output in self.outputs)

    @property
    def node(self) -> str:
        """The node to blame for the first difference; "" if there is none."""
        return self.partings[0].node if self.partings else ""

    @property
    def reproducer(self) -> str:
        """The folder with the reproducer of the first difference; "" if there is none."""
        return self.partings[0].reproducer if self.partings else ""

    def table(self) -> Table:
        """Return a table for `rich.print`: the inputs and outputs of the guilty nodes."""
        from ov_gather.crosscheck.bisect.tables import partings_table

        return partings_table(self.partings)
