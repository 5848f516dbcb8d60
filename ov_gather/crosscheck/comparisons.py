"""Records of comparisons: one runtime on one case, the cases of one layer, one output of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Status(Enum):
    """Outcome of a comparison."""

    PASSED = "passed"
    EXPECTED = "expected"
    NOT_APPLICABLE = "not applicable"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Difference:
    """The elements at which an output differs from the expected one.

    Attributes:
        position: the first differing element, in row-major order.
        expected, found: the values at that position.
        count, size: the number of differing elements, and of all elements.
        picture: the fraction of differing elements in each cell of a grid of up to 16 x 32, over the output flattened to rows
            of its last dimension.
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
    """One runtime's result for one case, compared with the expected result.

    Attributes:
        detail: the observation, as text for users.
        divergences: names of the known divergences that explain it.
        difference: the differing elements, if there are two outputs of the same shape and type.
        seconds: execution time; None if nothing was executed.
        stale: names of divergences that apply but did not occur, so their entry for this runtime is out of date.
        hangs: whether the runtime did not answer in time.
    """

    runtime: str
    status: Status
    detail: str = ""
    divergences: tuple[str, ...] = ()
    difference: Difference | None = None
    seconds: float | None = None
    stale: tuple[str, ...] = ()
    hangs: bool = False

    @property
    def passed(self) -> bool:
        """Whether no unexplained difference was observed."""
        return self.status is not Status.FAILED

    def __str__(self) -> str:
        names = f": {', '.join(self.divergences)}" if self.divergences else ""
        return f"{self.status.value}{names}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The results of all runtimes for one case.

    Attributes:
        replay: the command that runs the case again, if it failed and was written to disk.
        passes_again: whether the case passed when that command was executed, so it fails only after other cases.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]
    threads: int
    comparisons: tuple[Comparison, ...]
    replay: str = ""
    passes_again: bool = False

    @property
    def passed(self) -> bool:
        """Whether no unexplained difference was observed."""
        return all(comparison.passed for comparison in self.comparisons)


@dataclass(frozen=True, slots=True)
class LayerResult:
    """The result of one layer.

    Attributes:
        types: element types by input name.
        attributes: attributes by name, including those given by constant inputs.
        kernel: the kernel that computes the layer, "native" or "reference".
        cases: the results of all cases, in the order of execution.
        assumptions: what the document of a fragment omits and was assumed.
        problem: why the layer fails regardless of its cases: it was not executed, or there was nothing to compare with.
        executed_as: the identical layer whose cases are shared; "" if there is none.
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
        """Whether at least one case was compared, and no unexplained difference was observed."""
        return bool(self.cases) and not self.problem and all(case.passed for case in self.cases)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Comparisons of all cases."""
        return tuple(comparison for case in self.cases for comparison in case.comparisons)

    @property
    def not_applicable(self) -> int:
        """Number of comparisons for which the runtime was not executed."""
        return sum(comparison.status is Status.NOT_APPLICABLE for comparison in self.comparisons)

    @property
    def counts(self) -> Mapping[str, Counter[Status]]:
        """Number of comparisons of each status, by runtime."""
        found: dict[str, Counter[Status]] = {}
        for comparison in self.comparisons:
            found.setdefault(comparison.runtime, Counter())[comparison.status] += 1
        return found

    @property
    def divergences(self) -> tuple[str, ...]:
        """Distinct names of the known divergences that apply."""
        return tuple(dict.fromkeys(name for comparison in self.comparisons for name in comparison.divergences))


@dataclass(frozen=True, slots=True)
class OutputResult:
    """The result of one output of a model."""

    name: str
    type: str
    shape: tuple[int, ...]
    comparison: Comparison
