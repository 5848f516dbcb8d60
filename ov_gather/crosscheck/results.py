"""What a cross-check came to: comparisons of cases, results of layers, and what they were seen with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


class Status(Enum):
    """How a comparison came out."""

    PASSED = "passed"
    EXPECTED = "expected"
    NOT_APPLICABLE = "not applicable"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an output is not what it should be.

    Attributes:
        position: the first place, in row-major order.
        expected, found: the values there.
        count, size: how many elements differ, of how many.
        picture: the output as rows (its last dimension across) in up to 16 x 32 fields: the share that differs in each.
    """

    position: tuple[int, ...]
    expected: str
    found: str
    count: int
    size: int
    picture: tuple[tuple[float, ...], ...]

    def __str__(self) -> str:
        where = ", ".join(map(str, self.position))
        return f"output[{where}]: expected {self.expected}, here {self.found}; {self.count} of {self.size} differ"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One runtime on one case, against what is right.

    Attributes:
        detail: what was seen, for people.
        divergences: the names of those that apply.
        difference: where there are two outputs, and they differ.
        seconds: what the execution took; None where there was none.
        stale: the names of divergences that should have shown, but did not: what is known of the runtime is out of date.
    """

    runtime: str
    status: Status
    detail: str = ""
    divergences: tuple[str, ...] = ()
    difference: Difference | None = None
    seconds: float | None = None
    stale: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing unexplained was seen."""
        return self.status is not Status.FAILED

    def __str__(self) -> str:
        names = f": {', '.join(self.divergences)}" if self.divergences else ""
        return f"{self.status.value}{names}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case on every runtime. `replay` is the command that runs it again, where it failed and was written to disk."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    threads: int
    comparisons: tuple[Comparison, ...]
    replay: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing unexplained was seen."""
        return all(it.passed for it in self.comparisons)


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What came out for one layer.

    Attributes:
        types: of its inputs, by name.
        attributes: by name, those that constant inputs give included.
        kernel: which of ours computes it, "native" or "reference".
        cases: one after the other.
        assumptions: what a fragment leaves unsaid.
        problem: why the layer as a whole fails, where it does: it could not be executed, there was nothing to compare with.
    """

    path: str
    layer: str
    operation: str
    types: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    kernel: str = ""
    cases: tuple[CaseResult, ...] = ()
    assumptions: tuple[str, ...] = ()
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether there was something to compare, and nothing unexplained was seen."""
        return bool(self.cases) and not self.problem and all(case.passed for case in self.cases)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Those of all cases."""
        return tuple(it for case in self.cases for it in case.comparisons)

    @property
    def not_applicable(self) -> int:
        """How often a runtime was not asked."""
        return sum(it.status is Status.NOT_APPLICABLE for it in self.comparisons)

    @property
    def counts(self) -> Mapping[str, Counter[Status]]:
        """By runtime: how often each status."""
        found: dict[str, Counter[Status]] = {}
        for it in self.comparisons:
            found.setdefault(it.runtime, Counter())[it.status] += 1
        return found

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of the known divergences that apply, each once."""
        return tuple(dict.fromkeys(name for it in self.comparisons for name in it.divergences))


@dataclass(frozen=True, slots=True)
class OutputResult:
    """What came out for one output of a whole model."""

    name: str
    type: str
    shape: tuple[int, ...]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Environment:
    """With what a result was seen. `versions` by runtime."""

    versions: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""
    cores: int = 0
    system: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class CrossCheckResult:
    """What came out for all layers of one source and, of a whole IR, for its outputs.

    Attributes:
        outputs: of the model with its gathers replaced by ours, beside those of stock OpenVINO.
        not_run: why a whole IR was not executed as such, or its layers not on their own operands; "" if nothing was left out.
        source: the path of an ONNX model, which may have no layer that tells it.
        problem: why an ONNX model fails as a whole, where it could not be executed.
        losses: what OpenVINO will not execute as the ONNX model says.
    """

    layers: tuple[LayerResult, ...]
    seed: int
    environment: Environment = field(default_factory=Environment)
    outputs: tuple[OutputResult, ...] = ()
    not_run: str = ""
    source: str = ""
    problem: str = ""
    losses: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """That of its layers; "" if it has none, and is no ONNX model."""
        return self.source or (self.layers[0].path if self.layers else "")

    @property
    def passed(self) -> bool:
        """Whether every layer and output passed; False if there was no layer."""
        return bool(self.layers) and all(it.passed for it in self.layers) and all(it.comparison.passed for it in self.outputs)

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of the known divergences that apply, each once."""
        return tuple(dict.fromkeys(name for layer in self.layers for name in layer.divergences))

    def table(self) -> Table:
        """One row a layer, for `rich.print`."""
        from ov_gather.report.check.tables import table

        return table(self.layers)
