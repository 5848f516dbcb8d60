"""The records of a bisection: where two models part, and what was done to find it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ov_gather.crosscheck.comparisons import Difference
from ov_gather.crosscheck.results import Environment

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Observed:
    """An Observed is a value that was compared.

    Attributes:
        name: the value in the model; `other` in the reference.
        type: the element type and shape that it has in the model.
        how: how it is known that the two correspond: "name", "structure", or "given" for an input of the model.
        outcome: "equal", or what differs.
        difference: the places that differ, if any do.
    """

    name: str
    other: str
    type: str
    how: str
    outcome: str
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Parting:
    """A Parting is where two models part: a value that differs, though all that it is computed from is equal.

    Attributes:
        kind: "node" where the nodes, executed alone on the values of the reference, show it; "fusion" where it vanishes as soon as
            a value between them is observed, or where it takes several nodes together; "context" where only the whole model shows
            it; "crash" or "refusal" where one of the two models gives no value.
        node: the node that is to blame, as in "MatMul 'encoder/dense'".
        nodes: all nodes between the inputs and the value; one, if the values on both sides of it can be compared.
        reference_node: what computes the value in the reference; "" where that is not known.
        inputs: what the nodes are given.
        output: what they make of it.
        constants: constants of the nodes that are not those of the reference, with what differs.
        detail: what was observed, in a sentence.
        reproducer: the folder that holds the smallest model that shows it; "" if none does, or none was asked for.
        command: the command that shows it there.
    """

    kind: str
    node: str
    nodes: tuple[str, ...]
    reference_node: str
    inputs: tuple[Observed, ...]
    output: Observed
    constants: tuple[str, ...] = ()
    detail: str = ""
    reproducer: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class OutputCompared:
    """An OutputCompared is an output of the models; `outcome` is "" where it is equal; `excuse` says why it may differ."""

    name: str
    outcome: str
    excuse: str = ""


@dataclass(frozen=True, slots=True)
class BisectResult:
    """What came out of a bisection.

    Attributes:
        reference, model: the paths, with what executed them.
        partings: where the models part, the first one first.
        outputs: how the outputs compare.
        runs: how often the model was executed until the first parting was found; `nodes` is how many nodes it has.
        notes: what could not be compared, and why.
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

        return partings_table(self)
