"""Tables of a cross-check for the terminal, at most 100 columns wide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from ov_gather.crosscheck.results import CaseResult, CrossCheckResult, LayerResult, OutputResult, Status
from ov_gather.divergences import DIVERGENCES
from ov_gather.divergences.base import Observed

if TYPE_CHECKING:
    from ov_gather.crosscheck.models.verify import VerificationResult

LEGEND = "13 + 3: 13 cases passed, 3 are expected divergences; -: not applicable"


def table(layers: Sequence[LayerResult]) -> Table:
    """One row a layer, one column a runtime."""
    runtimes = list(dict.fromkeys(it.runtime for layer in layers for it in layer.comparisons))
    view = _table("layer", "cases", *(name.partition(" ")[0] for name in runtimes))  # "expected output": too wide
    for layer in layers:
        name = f"{layer.path}\n  {layer.operation} '{layer.layer}'"
        cells = [_cell(layer.counts.get(runtime, Counter())) for runtime in runtimes]
        view.add_row(Text(name, overflow="fold"), str(len(layer.cases)), *cells, style=None if layer.passed else "red")
    return view


def operations_table(layers: Sequence[LayerResult]) -> Table:
    """One row an operation, for thousands of layers."""
    runtimes = list(dict.fromkeys(it.runtime for layer in layers for it in layer.comparisons))
    view = _table("operation", "layers", "cases", *runtimes)
    for operation in dict.fromkeys(layer.operation for layer in layers):
        mine = [layer for layer in layers if layer.operation == operation]
        cells = [_cell(sum((layer.counts.get(runtime, Counter()) for layer in mine), Counter())) for runtime in runtimes]
        view.add_row(operation, str(len(mine)), str(sum(len(layer.cases) for layer in mine)), *cells)
    return view


def outputs_table(results: Sequence[CrossCheckResult]) -> Table:
    """One row an output of a whole IR."""
    view = _table("output", "shape", "with our gathers")
    for result in results:
        for it in result.outputs:
            _add_output(view, f"{result.path}\n  {it.name}", it, str(it.comparison))
    return view


def _add_output(view: Table, name: str, output: OutputResult, outcome: str) -> None:
    shape, style = f"{output.type}{list(output.shape)}", None if output.comparison.passed else "red"
    view.add_row(Text(name, overflow="fold"), Text(shape), Text(outcome), style=style)


def verification_table(result: VerificationResult) -> Table:
    """One row for each output and each gather of a converted model."""
    view = _table("output or gather", "shapes", "result")
    for output in result.outputs:
        _add_output(view, output.name, output, f"{output.comparison.runtime}: {output.comparison}")
    view.add_section()
    for layer in result.gathers:
        outcome = "\n".join(f"{it.runtime}: {it}" for it in layer.comparisons)
        shapes = ", ".join(str(list(shape)) for shape in layer.cases[0].shapes[:2])
        name = f"{layer.operation} '{layer.layer}'"
        view.add_row(Text(name), Text(shapes), Text(outcome), style=None if layer.passed else "red")
    return view


def verification_summary(result: VerificationResult) -> list[str]:
    """Below the table of a converted model."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    lines = [f"{result.path}: compared with onnxruntime on the original: {versions}; seed {result.seed}."]
    lines += [f"{result.path}: {result.problem}"] if result.problem else []
    lines += [f"{result.path}: {note}" for note in result.notes]
    if result.not_verified:
        return [*lines, f"{result.path}: not verified: {result.not_verified}"]
    lines += [f"{name} is in a body, and not compared on its own" for name in result.in_bodies]
    failed = not result.passed and all(layer.passed for layer in result.gathers) and not result.problem
    if failed and result.blamed:
        lines.append(
            f"Every gather is right on its own operands, but not in the model: with our operations in the place of "
            f"{', '.join(result.blamed)} the outputs are right. Convert it with --target extension."
        )
    elif failed:
        lines.append("Every gather is right on its own operands: what differs comes from elsewhere in the model.")
    count = sum(layer.passed for layer in result.gathers)
    outputs = sum(it.comparison.passed for it in result.outputs)
    lines.append(
        f"outputs: {len(result.outputs)}, passed: {outputs}; gathers: {len(result.gathers)}, passed: {count}: "
        f"{'passed' if result.passed else 'FAILED'}"
    )
    return lines


def summary(results: Sequence[CrossCheckResult]) -> list[str]:
    """Below the table: with what it was seen, what the divergences in it are, what failed, and what to do then."""
    versions = ", ".join(f"{name} {version}" for name, version in results[0].environment.versions.items())
    lines = [LEGEND, f"Compared bit by bit with the NumPy reference: {versions}; seed {results[0].seed}."]
    layers = [layer for result in results for layer in result.layers]
    lines += [
        f"{layer.path}: assumed, as the fragment does not say: {', '.join(layer.assumptions)}"
        for layer in layers
        if layer.assumptions
    ]
    seen = {name for layer in layers for name in layer.divergences}
    for known in DIVERGENCES:
        if known.name in seen:
            kind = "not applicable" if Observed.LACKS in known.observed else "expected divergence"
            lines.append(f"{kind} {known.name} ({', '.join(known.runtimes)}): {known.why}")
    stale = Counter((it.runtime, name) for layer in layers for it in layer.comparisons for name in it.stale)
    lines += [
        f"out of date: divergence {name} is listed of {runtime}, but did not show in {count} cases where it should have"
        for (runtime, name), count in stale.items()
    ]
    lines += [line for layer in layers for line in failures(layer)]
    lines += [f"{it.path}: not run as a whole: {it.not_run}" for it in results if it.not_run]
    lines += _of_whole(results)
    if any(case.replay for layer in layers for case in layer.cases):
        lines.append("What to do: run a case again as shown, or leave a runtime out with --runtimes.")
    return lines


def _of_whole(results: Sequence[CrossCheckResult]) -> list[str]:
    """Counts of whole models and their outputs; those that were not run are none that passed."""
    whole = [it for it in results if it.outputs or it.not_run]
    outputs = [output.comparison for it in whole for output in it.outputs]
    counts = {
        "whole models": len(whole),
        "outputs": len(outputs),
        "passed": sum(it.passed for it in outputs),
        "failed": sum(not it.passed for it in outputs),
        "not run": sum(bool(it.not_run) for it in whole),
    }
    return [", ".join(f"{name}: {count}" for name, count in counts.items())] if whole else []


def failures(layer: LayerResult) -> list[str]:
    """What failed of a layer, and how to run it again, line by line."""
    place = f"{layer.path}: {layer.operation} '{layer.layer}'"
    lines = [f"{place}: {layer.problem}"] if layer.problem else []
    for case in layer.cases:
        lines += [f"{place}: {_case(case)}: {it.runtime}: {it}" for it in case.comparisons if not it.passed]
        lines += [f"    again: {case.replay}"] if case.replay else []
    return lines


def _case(case: CaseResult) -> str:
    return f"case '{case.name}' of {', '.join(str(list(shape)) for shape in case.shapes)}"


def _table(*columns: str) -> Table:
    return Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)


def _cell(counts: Mapping[Status, int]) -> Text:
    if counts.get(Status.FAILED):
        return Text(f"{counts[Status.FAILED]} FAILED", "red")
    passed, expected = counts.get(Status.PASSED, 0), counts.get(Status.EXPECTED, 0)
    return Text(f"{passed} + {expected}" if expected else str(passed) if passed else "-")
