"""Records of comparisons: a runtime on a case, the cases of a layer, an output of a model, all of a source; with tables."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import Deviation, far_off
from ov_gather.crosscheck.histogram import Histogram
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.divergences import cpu
from ov_gather.graph.excerpts import Excerpt
from ov_gather.runtimes.base import Runtime
from ov_gather.system.platforms import core_count
from ov_gather.system.tables import InNotebooks, and_others, cell, counted, new_table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


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
        histogram: histogram of the differences.
    """

    position: tuple[int, ...]
    expected: str
    found: str
    count: int
    size: int
    picture: tuple[tuple[float, ...], ...]
    histogram: Histogram = ()

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
        deviation: how far the output is from the expected one, if they were compared; None for layers with the same bits.
        tolerance: the tolerance that users gave, if it replaced the usual comparison.
    """

    runtime: str
    status: Status
    detail: str = ""
    divergences: tuple[str, ...] = ()
    difference: Difference | None = None
    seconds: float | None = None
    stale: tuple[str, ...] = ()
    hangs: bool = False
    deviation: Deviation | None = None
    tolerance: Tolerance | None = None

    @property
    def passed(self) -> bool:
        """Whether no unexplained difference was observed."""
        return self.status is not Status.FAILED

    @property
    def has_same_bits(self) -> bool:
        """Whether an output was compared and has the expected bits."""
        return self.deviation is not None and not self.deviation.differing

    @property
    def is_within_tolerance(self) -> bool:
        """Whether an output was compared, has other bits, and passed all the same."""
        return self.status is Status.PASSED and self.deviation is not None and not self.has_same_bits

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict and, for other bits than expected, how far the output is off."""
        names = f": {', '.join(self.divergences)}" if self.divergences else ""
        verdict = f"{self.status.value}{names}" + (f" ({self.detail})" if self.detail else "")
        return (verdict, how_far) if (how_far := far_off(self.deviation)) else (verdict,)

    def __str__(self) -> str:
        return "; ".join(self.lines)


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
        surroundings: what feeds a failed layer in its model.
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
    surroundings: Excerpt | None = None

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


@dataclass(frozen=True, slots=True)
class Definitions:
    """What layers of an IR compute by their definitions, compared with OpenVINO.

    Attributes:
        values: the compared values between layers.
        defined, undefined: the numbers of layers with and without a reference, by type; those of the gather family left out.
        not_compared: why nothing was compared; "" if it was.
    """

    values: tuple[OutputResult, ...] = ()
    defined: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)
    not_compared: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of the runtimes, by name, and the machine on which a result was obtained."""

    versions: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""
    cores: int = 0
    system: str = ""
    python: str = ""

    @classmethod
    def of(cls, runtimes: Sequence[Runtime[Any]]) -> Environment:
        """Describe these runtimes and this machine; `cores` counts those that this process may use."""
        system = f"{platform.system()} {platform.release()} {platform.machine()}"
        versions = {runtime.name: runtime.version for runtime in runtimes}
        return cls(versions, cpu.model_name(), core_count(), system, platform.python_version())


@dataclass(frozen=True, slots=True, repr=False)
class CrossCheckResult(InNotebooks):
    """Result of cross-checking an IR or an ONNX model: its gather-family layers and its outputs.

    The outputs of an IR with our gathers are compared with those of stock OpenVINO. The outputs of a converted ONNX model are
    compared with those of onnxruntime on the original.

    Attributes:
        not_run: why the model, or its layers on their own operands, was not executed; "" if everything was.
        no_reference: whether `not_run` is because onnxruntime cannot load the ONNX model, whatever the inputs.
        original: path of the ONNX model; "" if the source is an IR.
        problem: why an ONNX model fails regardless of its outputs and layers: it was not executed.
        inexactness: ways in which OpenVINO will differ from the ONNX model.
        in_bodies: gathers in bodies of If, Loop and Scan, which were not compared on their own.
        notes: other inputs that were tried, and why the converted model could not be compared on them.
        inputs: inputs of the ONNX model and its conversion, by name.
        definitions: for an IR that was executed, what its layers compute by their definitions.
        blamed: stock gathers that each pass alone, although the outputs are wrong with them and right with ours.
    """

    layers: tuple[LayerResult, ...]
    seed: int
    environment: Environment = field(default_factory=Environment)
    outputs: tuple[OutputResult, ...] = ()
    not_run: str = ""
    no_reference: bool = False
    original: str = ""
    problem: str = ""
    inexactness: tuple[str, ...] = ()
    in_bodies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    definitions: Definitions = field(default_factory=Definitions)
    blamed: tuple[str, ...] = ()
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict, compare=False)

    @property
    def headline(self) -> str:
        """Source, verdict, and number of compared layers and outputs."""
        verdict = "passed" if self.passed else self.problem or "failed"
        known = f"; known divergences: {', '.join(self.divergences)}" if self.divergences else ""
        compared = f"{counted(len(self.layers), 'layer')}, {counted(len(self.outputs), 'output')}"
        return f"{self.path or 'no path'}: {verdict}, {compared}{known}"

    @property
    def path(self) -> str:
        """Path of the source; "" for an IR without layers or in memory."""
        return self.original or (self.layers[0].path if self.layers else "")

    @property
    def passed(self) -> bool:
        """Whether all layers and outputs passed, with at least one layer (of an IR) or one output (of an ONNX model)."""
        compared = self.outputs if self.original else self.layers
        values = (*self.outputs, *self.definitions.values)
        right = all(layer.passed for layer in self.layers) and all(value.comparison.passed for value in values)
        return bool(compared) and right and not self.problem

    @property
    def divergences(self) -> tuple[str, ...]:
        """Distinct names of the known divergences that apply."""
        of_layers = [name for layer in self.layers for name in layer.divergences]
        values = (*self.outputs, *self.definitions.values)
        return tuple(dict.fromkeys([*of_layers, *(name for value in values for name in value.comparison.divergences)]))

    def table(self) -> Table:
        """Return a table for `rich.print`, with one row per layer and, for an ONNX model, one per output."""
        return model_table(self.outputs, self.layers) if self.original else layers_table(self.layers)


def layers_table(layers: Sequence[LayerResult], *, is_merged: bool = False) -> Table:
    """Return a table with one row per layer and one column per runtime; if merged, one for all that passed alike."""
    runtimes = runtimes_of(layers)
    table = new_table("layer", "cases", *(name.partition(" ")[0] for name in runtimes))  # "expected output" is too wide
    groups: dict[tuple[object, ...], list[LayerResult]] = {}
    for layer in layers:
        found = [layer.counts.get(runtime, Counter()).items() for runtime in runtimes]
        alike = (layer.path, layer.operation, len(layer.cases), *map(frozenset, found))
        groups.setdefault(alike if is_merged and layer.passed else (id(layer),), []).append(layer)
    for layer, *others in groups.values():
        names = and_others([f"  {layer.operation} '{one.layer}'" for one in (layer, *others)])
        name, counts = cell(layer.path, names), layer.counts
        cells = [counts_cell(counts.get(runtime, Counter())) for runtime in runtimes]
        table.add_row(name, str(len(layer.cases)), *cells, style=None if layer.passed else "red")
    return table


def model_table(outputs: Sequence[OutputResult], layers: Sequence[LayerResult]) -> Table:
    """Return a table with one row per output and per gather of a converted model. A gather has one case: its own operands."""
    table = new_table("output or gather", "shapes", "result")
    for output in outputs:
        verdict, *how_far = output.comparison.lines
        add_output(table, cell(output.name), output, cell(f"{output.comparison.runtime}: {verdict}", *how_far))
    table.add_section()
    for layer in layers:
        result = cell(*(f"{comparison.runtime}: {comparison}" for comparison in layer.comparisons))
        shapes = ", ".join(str(list(shape)) for shape in layer.cases[0].shapes[:2])
        name = cell(f"{layer.operation} '{layer.layer}'")
        table.add_row(name, cell(shapes), result, style=None if layer.passed else "red")
    return table


def add_output(table: Table, name: Text, output: OutputResult, result: Text) -> None:
    """Add a row for one output of a model."""
    shape, style = f"{output.type}{list(output.shape)}", None if output.comparison.passed else "red"
    table.add_row(name, cell(shape), result, style=style)


def runtimes_of(layers: Sequence[LayerResult]) -> list[str]:
    """Return the names of the compared runtimes, in order of first appearance."""
    return list(dict.fromkeys(comparison.runtime for layer in layers for comparison in layer.comparisons))


def counts_cell(counts: Mapping[Status, int]) -> Text:
    """Return the cell of one runtime: failures only, or else the numbers of passed cases and of expected divergences."""
    if counts.get(Status.FAILED):
        return cell(f"{counts[Status.FAILED]} FAILED", style="red")
    passed, expected = counts.get(Status.PASSED, 0), counts.get(Status.EXPECTED, 0)
    texts = [f"{passed}"] * (passed > 0) + [f"{expected} expected"] * (expected > 0)
    return cell(", ".join(texts) or "-")
