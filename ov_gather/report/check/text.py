"""Text report of `ov-gather check`: tables, and lines below them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table

from ov_gather.crosscheck.comparisons import LayerResult
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.crosscheck.tables import add_output, counts_cell, layers_table, new_table, runtimes_of
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.summary import summary
from ov_gather.report.convert import verification_summary
from ov_gather.system.tables import cell, printable


def render(report: CheckReport, *, by_operation: bool) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing.

    `by_operation` makes one row per operation instead of one per layer, since a sweep has thousands of layers.
    """
    for result in report.onnx_results:
        yield result.table()
        yield from verification_summary(result)
    results = report.ir_results
    if layers := [layer for result in results for layer in result.layers]:
        yield _operations_table(layers) if by_operation else layers_table(layers)
        if any(result.outputs for result in results):
            yield _outputs_table(results)
        yield from summary(results)


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


def _outputs_table(results: Sequence[CrossCheckResult]) -> Table:
    """Return a table with one row per output of an IR."""
    table = new_table("output", "shape", "with our gathers")
    for result in results:
        for output in result.outputs:
            add_output(table, cell(result.path, f"  {output.name}"), output, str(output.comparison))
    return table
