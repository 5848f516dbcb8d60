"""Text report of `ov-gather check`: tables, and lines below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from ov_gather.crosscheck.results import (
    CaseResult,
    CrossCheckResult,
    LayerResult,
    OutputResult,
    Status,
    add_output,
    counts_cell,
    layers_table,
    runtimes_of,
)
from ov_gather.divergences.base import Observed
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.plugin.register import KNOWN
from ov_gather.report.check.report import CheckReport
from ov_gather.report.convert import verification
from ov_gather.rules.releases import RELEASES, is_newer_than_known
from ov_gather.system.tables import cell, counted, new_table, printable

_BY_DEFINITION = {Status.PASSED: "right", Status.EXPECTED: "wrong by a known fault", Status.FAILED: "wrong"}
_MOST = 10
"""Layers, and outputs, that are listed without --verbose though all of them passed."""


def render(report: CheckReport, *, by_operation: bool, every_row: bool = False) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing.

    `by_operation` makes one row per operation instead of one per layer, since a sweep has thousands of layers. Unless
    `every_row`, more than _MOST layers or outputs are listed only if they did not plainly pass, and the others are counted;
    layers that passed alike are one row.
    """
    for result in report.onnx_results:
        yield from verification(result, every_row=every_row)
    results = report.ir_results
    if layers := [layer for result in results for layer in result.layers]:
        if by_operation:
            yield _operations_table(layers)
        else:
            is_brief = not every_row and len(layers) > _MOST
            told = [one for one in layers if _is_told(one)] if is_brief else layers
            yield from _listed(layers_table(told, is_merged=is_brief), len(layers) - len(told), "layer")
        outputs = [(result, output) for result in results for output in result.outputs]
        if outputs:
            is_all = every_row or len(outputs) <= _MOST
            shown = [(result, one) for result, one in outputs if is_all or one.comparison.status is not Status.PASSED]
            yield from _listed(_outputs_table(shown), len(outputs) - len(shown), "output")
        values = [(result, value) for result in results for value in result.definitions.values]
        shown = [(result, one) for result, one in values if every_row or one.comparison.status is not Status.PASSED]
        if shown:
            yield _outputs_table(shown, "value", "by the definitions of the layers")
        yield from summary(results)


def _is_told(layer: LayerResult) -> bool:
    """Return True for a layer that failed, or shows a known divergence; that a runtime lacks it does not count."""
    return not layer.passed or any(comparison.status is Status.EXPECTED for comparison in layer.comparisons)


def _listed(table: Table, hidden: int, what: str) -> Iterator[Table | str]:
    if table.row_count:
        yield table
    if hidden:
        yield f"{counted(hidden, what)} passed, without a divergence: --verbose lists {'it' if hidden == 1 else 'them'}"


def totals(report: CheckReport) -> Iterator[str]:
    """Yield the last lines: counts of files, layers and cases of IRs, if any, and the progress if interrupted."""
    layers = [layer for result in report.ir_results for layer in result.layers]
    failed = sum(not layer.passed for layer in layers)
    counts = {
        "files": len(report.ir_results),
        "layers": len(layers),
        "cases": sum(len(layer.cases) for layer in layers),
        "passed": len(layers) - failed,
        "failed": failed,
        "not applicable": sum(layer.not_applicable for layer in layers),
        "errors found": report.errors,
    }
    if report.ir_results:
        yield ", ".join(f"{name}: {count}" for name, count in counts.items())
    if report.stopped:
        yield f"partial: stopped at {printable(report.stopped)}"


def _operations_table(layers: Sequence[LayerResult]) -> Table:
    """Return a table with one row per operation, for thousands of layers."""
    runtimes = runtimes_of(layers)
    table = new_table("operation", "layers", "cases", *runtimes)
    for operation in dict.fromkeys(layer.operation for layer in layers):
        mine = [layer for layer in layers if layer.operation == operation]
        cells = [counts_cell(sum((layer.counts.get(runtime, Counter()) for layer in mine), Counter())) for runtime in runtimes]
        table.add_row(cell(operation), str(len(mine)), str(sum(len(layer.cases) for layer in mine)), *cells)
    return table


def _outputs_table(
    outputs: Sequence[tuple[CrossCheckResult, OutputResult]], what: str = "output", how: str = "with our gathers"
) -> Table:
    """Return a table with one row per output, or other value, of an IR."""
    table = new_table(what, "shape", how)
    for result, output in outputs:
        add_output(table, cell(result.path, f"  {output.name}"), output, cell(*output.comparison.lines))
    return table


def summary(results: Sequence[CrossCheckResult]) -> list[str]:
    """Return the lines: versions and seed, divergences, failures, and what to do about them."""
    versions = ", ".join(f"{name} {version}" for name, version in results[0].environment.versions.items())
    of_users = any("library" in layer.counts for result in results for layer in result.layers)
    within = " (declared operations: within their tolerances)" if of_users else ""
    lines = [f"Compared bit by bit with the NumPy reference{within}: {versions}; seed {results[0].seed}."]
    release = results[0].environment.versions.get("openvino", "")
    if is_newer_than_known(release):
        lines.append(
            f"OpenVINO {release} is newer than {RELEASES[-1]}, the newest that ov-gather knows, whose divergences are taken"
        )
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
    comparisons = [comparison for layer in layers for comparison in layer.comparisons]
    stale = Counter((comparison.runtime, name) for comparison in comparisons for name in comparison.stale)
    if stale:
        named = ", ".join(f"{name} of {runtime} in {count}" for (runtime, name), count in stale.items())
        lines.append(f"out of date: listed divergences did not show in all cases where they should have: {named}")
    lines += [line for layer in layers for line in failure_lines(layer)]
    lines += [f"{result.path}: not run as a whole: {result.not_run}" for result in results if result.not_run]
    lines += [line for result in results for line in definition_lines(result)]
    lines += _model_counts(results)
    if any(case.replay for layer in layers for case in layer.cases):
        lines.append("What to do: run a case again as shown, or leave a runtime out with --runtimes.")
    return lines


def definition_lines(result: CrossCheckResult) -> list[str]:
    """Return what was compared with the definitions of the layers of an IR, the known faults that show, and what was not."""
    definitions = result.definitions
    if definitions.not_compared:
        return [f"{result.path}: not compared with the definitions of its layers: {definitions.not_compared}"]
    if not definitions.defined and not definitions.undefined:
        return []
    statuses = Counter(value.comparison.status for value in definitions.values)
    found = ", ".join(f"{statuses[status]} {words}" for status, words in _BY_DEFINITION.items() if statuses[status])
    kinds = (
        f"{words} a reference ({_types(types)})"
        for words, types in (("with", definitions.defined), ("without", definitions.undefined))
        if types
    )
    values = f"{counted(len(definitions.values), 'value')} compared{f': {found}' if found else ''}"
    names = {name for value in definitions.values for name in value.comparison.divergences}
    faults = [f"known fault {fault.report} (openvino): {fault.instead}" for fault in KNOWN if fault.report in names]
    return [*faults, f"{result.path}: other layers {', '.join(kinds)}; {values}"]


def _types(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {layer_type}" for layer_type, count in sorted(counts.items()))


def _model_counts(results: Sequence[CrossCheckResult]) -> list[str]:
    """Count models, and their outputs by result. A model that was not run has no outputs."""
    models = [result for result in results if result.outputs or result.not_run]
    comparisons = [output.comparison for result in models for output in result.outputs]
    counts = {
        "whole models": len(models),
        "outputs": len(comparisons),
        "passed": sum(comparison.passed for comparison in comparisons),
        "within tolerance": sum(comparison.is_within_tolerance for comparison in comparisons),
        "failed": sum(not comparison.passed for comparison in comparisons),
        "not run": sum(bool(result.not_run) for result in models),
    }
    if not counts["within tolerance"]:  # without --atol and --rtol
        del counts["within tolerance"]
    return [", ".join(f"{name}: {count}" for name, count in counts.items())] if models else []


def failure_lines(layer: LayerResult) -> list[str]:
    """Return the failures of a layer as lines, each case with its replay command."""
    place = f"{layer.path}: {layer.operation} '{layer.layer}'"
    lines = [f"{place}: {layer.problem}"] if layer.problem else []
    for case in layer.cases:
        failed = [comparison for comparison in case.comparisons if not comparison.passed]
        lines += [f"{place}: {_case(case)}: {comparison.runtime}: {comparison}" for comparison in failed]
        again = "again, though it passes alone" if case.passes_again else "again"
        lines += [f"    {again}: {case.replay}"] if case.replay else []
    return lines


def _case(case: CaseResult) -> str:
    shapes = ", ".join(str(list(shape)) for shape in case.shapes)
    return f"case '{case.name}'" + (f" of {shapes}" if shapes else "")
