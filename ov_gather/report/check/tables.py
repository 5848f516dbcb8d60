"""Tables that only `ov-gather check` prints, for many layers or models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table

from ov_gather.crosscheck.comparisons import LayerResult
from ov_gather.crosscheck.results import CrossCheckResult
from ov_gather.crosscheck.tables import add_output, counts_cell, new_table, runtimes_of
from ov_gather.system.tables import cell


def operations_table(layers: Sequence[LayerResult]) -> Table:
    """Return a table with one row per operation, for thousands of layers."""
    runtimes = runtimes_of(layers)
    table = new_table("operation", "layers", "cases", *runtimes)
    for operation in dict.fromkeys(layer.operation for layer in layers):
        mine = [layer for layer in layers if layer.operation == operation]
        cells = [counts_cell(sum((layer.counts.get(runtime, Counter()) for layer in mine), Counter())) for runtime in runtimes]
        table.add_row(cell(operation), str(len(mine)), str(sum(len(layer.cases) for layer in mine)), *cells)
    return table


def outputs_table(results: Sequence[CrossCheckResult]) -> Table:
    """Return a table with one row per output of an IR."""
    table = new_table("output", "shape", "with our gathers")
    for result in results:
        for output in result.outputs:
            add_output(table, cell(result.path, f"  {output.name}"), output, str(output.comparison))
    return table
