"""The description of a known fault of OpenVINO, and the layers that meet it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_gather.graph.protocol import Node
    from ov_gather.plugin.pattern_graph import PatternGraph

    Pattern = Callable[[PatternGraph, Node], bool]


REAL = ("bf16", "f16", "f32", "f64")
"""The element types of fractions."""


class Effect(Enum):
    """What happens to a model with the pattern of a fault."""

    WRONG = "wrong results"
    FATAL = "the process ends, or the model is refused"
    DEPENDS = "wrong results for some values of inputs"


@dataclass(frozen=True, slots=True)
class KnownFault:
    """A fault of OpenVINO's CPU plugin or of its transformations.

    Attributes:
        report: the page in docs/evidence/upstream/ that reports it, with a reproducer.
        types: the types of the nodes that meet it.
        element_types: the element types of the first output of such a node; empty for all.
        beside: the graph must have a node of one of these types as well; empty if it need not.
        occurs: whether a node of one of these types meets it. Operand counts are checked before by `operands`.
        instead: what OpenVINO does instead of what is right.
        remedy: how to write the model so that it is right.
        effect: what follows.
        since, before: the first release that shows the fault, of those measured, and the first one that no longer does; ""
            if the first, or the last one measured, shows it.
        operands: the least number of inputs of the node.
        is_of_refused_inputs: whether ONNX refuses the inputs for which the fault shows.
        taints: whether nothing is known of the result, maybe not even its shape, and so of what is computed from it.
        converter: what `ov-gather convert` does with such an ONNX model, "avoids" the fault or "refuses" it; "" if neither.
    """

    report: str
    types: tuple[str, ...]
    occurs: Pattern
    instead: str
    remedy: str
    effect: Effect = Effect.WRONG
    since: str = ""
    before: str = ""
    element_types: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    operands: int = 1
    is_of_refused_inputs: bool = False
    taints: bool = False
    converter: str = ""

    def is_met(self, graph: PatternGraph, node: Node) -> bool:
        """Return True if a node of one of the types meets the fault."""
        if len(node.inputs) < self.operands or (self.element_types and graph.made_type(node) not in self.element_types):
            return False
        try:
            return self.occurs(graph, node)
        # Attributes or constants that make no sense, for which OpenVINO refuses the model.
        except (ArithmeticError, LookupError, ValueError):
            return False

    @property
    def releases(self) -> str:
        """The releases that show the fault, e.g. "since 2025.4"; empty if all measured ones do."""
        return releases_text(self.since, self.before)

    @property
    def advice(self) -> str:
        """The remedy, and what our converter does about it."""
        return self.remedy + (f"; ov-gather convert {self.converter} this" if self.converter else "")

    @property
    def hint(self) -> str:
        """The advice, and what tells more."""
        return f"{self.advice}; {explained(self.report)}"


def releases_text(since: str, before: str) -> str:
    """Return the releases from one on and before another, e.g. "since 2025.2, before 2025.3"; "" leaves an end open."""
    named = {"since": since, "before": before}
    return ", ".join(f"{word} {release}" for word, release in named.items() if release)


def explained(report: str) -> str:
    """Return what tells more of a report for upstream: a command, since pages of the repository are not installed."""
    return f"see ov-gather explain {report}"
