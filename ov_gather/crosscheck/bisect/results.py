"""Results of a bisection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ov_gather.crosscheck.deviation import Deviation, far_off
from ov_gather.crosscheck.results import Difference, Environment
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.graph.excerpts import Excerpt
from ov_gather.system.tables import InNotebooks, cell, new_table

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A compared value.

    Attributes:
        name, other: names of the value in the model and in the reference.
        type: its element type and shape in the model.
        how: the basis of the correspondence: "name", "structure", or "given" for an input of the model.
        outcome: "equal", or the difference.
        difference: the differing elements, if any.
        deviation: how far the value is from the reference; None if it was not compared, or its size differs.
    """

    name: str
    other: str
    type: str
    how: str
    outcome: str
    difference: Difference | None = None
    deviation: Deviation | None = None


@dataclass(frozen=True, slots=True)
class Culprit:
    """The nodes to blame for a difference: their value differs, although all values that it is computed from are equal.

    Attributes:
        kind: "node" if the node shows the fault alone, on values of the reference; "fusion" if only several nodes together show
            it, or if it vanishes as soon as a value between them is observed; "context" if only the whole model shows it;
            "crash" or "refusal" if one of the models computes no value.
        node: the guilty node, as in "MatMul 'encoder/dense'".
        nodes: all nodes between the inputs and the value; a single one if the values on both sides of it are comparable.
        reference_node: the node that computes the value in the reference; "" if unknown.
        inputs, output: the values that the nodes use and compute.
        constants: constants of the nodes that differ from the reference, each with the difference.
        detail: the observation, in a sentence.
        reproducer: the folder of the smallest model that shows the fault; "" if there is none.
        command: the command that executes the reproducer.
        surroundings: what feeds the node in its model; None if the model has no such node.
    """

    kind: str
    node: str
    nodes: tuple[str, ...]
    reference_node: str
    inputs: tuple[ComparedValue, ...]
    output: ComparedValue
    constants: tuple[str, ...] = ()
    detail: str = ""
    reproducer: str = ""
    command: str = ""
    surroundings: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class ComparedOutput:
    """An output of both models.

    Attributes:
        outcome: the difference; "" if it is equal, up to rounding or within the tolerance.
        excuse: why it may differ.
        deviation: how far it is from the reference; None if its size differs.
        tolerance: the tolerance that users gave for it.
    """

    name: str
    outcome: str
    excuse: str = ""
    deviation: Deviation | None = None
    tolerance: Tolerance | None = None


@dataclass(frozen=True, slots=True, repr=False)
class BisectResult(InNotebooks):
    """Result of a bisection.

    Attributes:
        reference, model: the paths.
        culprits: the nodes at which the models differ, the first one first.
        outputs: the compared outputs.
        runs: executions of the model until the first culprit was found.
        nodes: number of nodes of the model.
        notes: what could not be compared, and why.
        setting: runtime, device and precision of the model, in words.
        seed: the seed of generated inputs; None if inputs were given.
        not_run: why nothing was compared; "" if something was.
    """

    reference: str
    model: str
    culprits: tuple[Culprit, ...] = ()
    outputs: tuple[ComparedOutput, ...] = ()
    runs: int = 0
    nodes: int = 0
    notes: tuple[str, ...] = ()
    not_run: str = ""
    environment: Environment = field(default_factory=Environment)
    setting: str = ""
    seed: int | None = None
    input_shapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The models, and where they differ first."""
        found = self.not_run or (f"differs at {self.node}" if self.culprits else "passed" if self.passed else "outputs differ")
        return f"{self.reference} and {self.model}: {found}"

    @property
    def passed(self) -> bool:
        """Whether the models were compared and no output differs without an excuse."""
        return not self.culprits and not self.not_run and all(not output.outcome or output.excuse for output in self.outputs)

    @property
    def node(self) -> str:
        """The node to blame for the first difference; "" if there is none."""
        return self.culprits[0].node if self.culprits else ""

    @property
    def reproducer(self) -> str:
        """The folder with the reproducer of the first difference; "" if there is none."""
        return self.culprits[0].reproducer if self.culprits else ""

    def table(self) -> Table:
        """Return a table for `rich.print`: a row for each input and output of the guilty nodes."""
        table = new_table("node", "", "value", "type", "outcome")
        for culprit in self.culprits:
            node = culprit.node
            for side, value in (*(("in", given) for given in culprit.inputs), ("out", culprit.output)):
                outcome = cell(value.outcome, *([how_far] if (how_far := far_off(value.deviation)) else []))
                table.add_row(*map(cell, (node, side, value.name, value.type)), outcome, style="red" if side == "out" else None)
                node = ""
            table.add_section()
        return table
