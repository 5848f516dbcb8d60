"""Records of a bisection: compared values, partings and outputs."""

from __future__ import annotations

from dataclasses import dataclass

from ov_gather.crosscheck.comparisons import Difference


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A compared value.

    Attributes:
        name, other: names of the value in the model and in the reference.
        type: its element type and shape in the model.
        how: the basis of the correspondence: "name", "structure", or "given" for an input of the model.
        outcome: "equal", or the difference.
        difference: the differing elements, if any.
    """

    name: str
    other: str
    type: str
    how: str
    outcome: str
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where two models part: a value that differs although all values that it is computed from are equal.

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


@dataclass(frozen=True, slots=True)
class OutputCompared:
    """An output of both models. `outcome` is "" if it is equal; `excuse` is why it may differ."""

    name: str
    outcome: str
    excuse: str = ""
