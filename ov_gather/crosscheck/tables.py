"""Terminal tables of comparisons, at most 100 columns wide unless names are longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ov_gather.crosscheck.comparisons import LayerResult, OutputResult, Status
from ov_gather.system.tables import cell


def layers_table(layers: Sequence[LayerResult]) -> Table:
    """Return a table with one row per layer and one column per runtime."""
    runtimes = runtimes_of(layers)
    table = new_table("layer", "cases", *(name.partition(" ")[0] for name in runtimes))  # "expected output" is too wide
    for layer in layers:
        name = cell(layer.path, f"  {layer.operation} '{layer.layer}'")
        counts = layer.counts
        cells = [counts_cell(counts.get(runtime, Counter())) for runtime in runtimes]
        table.add_row(name, str(len(layer.cases)), *cells, style=None if layer.passed else "red")
    return table


def model_table(outputs: Sequence[OutputResult], layers: Sequence[LayerResult]) -> Table:
    """Return a table with one row per output and per gather of a converted model. A gather has one case: its own operands."""
    table = new_table("output or gather", "shapes", "result")
    for output in outputs:
        add_output(table, cell(output.name), output, f"{output.comparison.runtime}: {output.comparison}")
    table.add_section()
    for layer in layers:
        result = cell(*(f"{comparison.runtime}: {comparison}" for comparison in layer.comparisons))
        shapes = ", ".join(str(list(shape)) for shape in layer.cases[0].shapes[:2])
        name = cell(f"{layer.operation} '{layer.layer}'")
        table.add_row(name, cell(shapes), result, style=None if layer.passed else "red")
    return table


def add_output(table: Table, name: Text, output: OutputResult, result: str) -> None:
    """Add a row for one output of a model."""
    shape, style = f"{output.type}{list(output.shape)}", None if output.comparison.passed else "red"
    table.add_row(name, cell(shape), cell(result), style=style)


def runtimes_of(layers: Sequence[LayerResult]) -> list[str]:
    """Return the names of the compared runtimes, in order of first appearance."""
    return list(dict.fromkeys(comparison.runtime for layer in layers for comparison in layer.comparisons))


def new_table(*columns: str) -> Table:
    """Return an empty table in our common style."""
    return Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)


def counts_cell(counts: Mapping[Status, int]) -> Text:
    """Return the cell of one runtime: failures only, or else "13 + 3" for 13 passed and 3 expected divergences."""
    if counts.get(Status.FAILED):
        return cell(f"{counts[Status.FAILED]} FAILED", style="red")
    passed, expected = counts.get(Status.PASSED, 0), counts.get(Status.EXPECTED, 0)
    return cell(f"{passed} + {expected}" if expected else str(passed) if passed else "-")
