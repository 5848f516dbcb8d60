"""The records of what was compared: one runtime on one case, the cases of one layer, one output of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Status(Enum):
    """The ways in which a comparison can come out."""

    PASSED = "passed"
    EXPECTED = "expected"
    NOT_APPLICABLE = "not applicable"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Difference:
    """The places where an output is not what it should be.

    Attributes:
        position: the first place that differs, in row-major order.
        expected, found: the values at that place.
        count, size: how many elements differ, and how many the output has.
        picture: the output as rows (its last dimension across), cut into up to 16 x 32 fields: the share that differs in each.
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
    """What one runtime made of one case, compared with what is right.

    Attributes:
        detail: what was observed, for people.
        divergences: the names of the known divergences that apply.
        difference: the places that differ, if there are two outputs and they differ.
        seconds: what the execution took; None if nothing was executed.
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
        """Whether nothing unexplained was observed."""
        return self.status is not Status.FAILED

    def __str__(self) -> str:
        names = f": {', '.join(self.divergences)}" if self.divergences else ""
        return f"{self.status.value}{names}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What every runtime made of one case.

    Attributes:
        replay: the command that runs the case again, if it failed and was written to disk.
        passes_again: whether the case passed when that command was executed: it fails only after other cases.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]
    threads: int
    comparisons: tuple[Comparison, ...]
    replay: str = ""
    passes_again: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing unexplained was observed."""
        return all(comparison.passed for comparison in self.comparisons)


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What came out for one layer.

    Attributes:
        types: the element types of the inputs, by the inputs' names.
        attributes: the attributes by name; inputs that are constant and stand for an attribute are among them.
        kernel: which of our kernels computes the layer, "native" or "reference".
        cases: the results of all cases, in the order in which they were executed.
        assumptions: what a fragment leaves unsaid and was taken for granted.
        problem: why the layer fails whatever its cases say: it could not be executed, or there was nothing to compare with.
        executed_as: the layer that is the same but for its name, and whose cases these are; "" if there is none.
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
    executed_as: str = ""

    @property
    def passed(self) -> bool:
        """Whether there was something to compare, and nothing unexplained was observed."""
        return bool(self.cases) and not self.problem and all(case.passed for case in self.cases)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons of all cases."""
        return tuple(comparison for case in self.cases for comparison in case.comparisons)

    @property
    def not_applicable(self) -> int:
        """The number of times that a runtime was not asked."""
        return sum(comparison.status is Status.NOT_APPLICABLE for comparison in self.comparisons)

    @property
    def counts(self) -> Mapping[str, Counter[Status]]:
        """How often each status occurred, by runtime."""
        found: dict[str, Counter[Status]] = {}
        for comparison in self.comparisons:
            found.setdefault(comparison.runtime, Counter())[comparison.status] += 1
        return found

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of the known divergences that apply, each once."""
        return tuple(dict.fromkeys(name for comparison in self.comparisons for name in comparison.divergences))


@dataclass(frozen=True, slots=True)
class OutputResult:
    """What came out for one output of a model."""

    name: str
    type: str
    shape: tuple[int, ...]
    comparison: Comparison
