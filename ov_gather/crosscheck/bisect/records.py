"""The records of a bisection: a value that was compared, a place where two models part, an output."""

from __future__ import annotations

from dataclasses import dataclass

from ov_gather.crosscheck.comparisons import Difference


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
        kind: "node" where it shows the fault alone, on the values of the reference; "fusion" where only several nodes together
            show it, or where it vanishes as soon as a value between them is observed; "context" where only the whole model
            shows it; "crash" or "refusal" where one of the two models gives no value.
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
