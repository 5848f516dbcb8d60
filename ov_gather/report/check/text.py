"""Text report of `ov-gather check`: tables, and lines below them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from ov_gather.crosscheck.tables import layers_table
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.summary import summary
from ov_gather.report.check.tables import operations_table, outputs_table
from ov_gather.report.convert import verification
from ov_gather.system.tables import printable


def render(report: CheckReport, *, by_operation: bool) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing.

    `by_operation` makes one row per operation instead of one per layer, since a sweep has thousands of layers.
    """
    for result in report.onnx_results:
        yield result.table()
        yield from verification.summary(result)
    results = report.ir_results
    if layers := [layer for result in results for layer in result.layers]:
        yield operations_table(layers) if by_operation else layers_table(layers)
        if any(result.outputs for result in results):
            yield outputs_table(results)
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
