"""Text report of a bisection, suitable for a bug report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ov_gather.crosscheck.bisect.records import Parting
from ov_gather.crosscheck.bisect.results import BisectResult
from ov_gather.crosscheck.bisect.tables import partings_table

if TYPE_CHECKING:
    from rich.table import Table

_SHADES = " .:*#"


def render(result: BisectResult) -> Iterator[Table | str]:
    """Yield the verdict, a table of values, the facts of each parting, and what was compared."""
    yield from found(result)
    yield from notes(result)
    yield from summary(result)


def found(result: BisectResult) -> Iterator[Table | str]:
    """Yield the verdict, a table of values, and the facts of each parting."""
    yield headline(result)
    if result.partings:
        yield partings_table(result.partings)
    for parting in result.partings:
        yield from _parting(parting)


def headline(result: BisectResult) -> str:
    """Return the verdict as one sentence."""
    if result.not_run:
        return f"{result.model}: not compared with {result.reference}: {result.not_run}"
    if result.partings:
        return f"{result.model} parts from {result.reference} at {result.node}"
    if not result.passed:
        return f"{result.model} differs from {result.reference}, but no node could be found"
    return f"{result.model} computes what {result.reference} does"


def notes(result: BisectResult) -> Iterator[str]:
    """Yield what could not be compared, and the outputs that differ, with their excuses."""
    yield from result.notes
    for output in result.outputs:
        if output.excuse:
            yield f"output '{output.name}' may differ: {output.excuse} ({output.outcome})"
        elif output.outcome:
            yield f"output '{output.name}': {output.outcome}"


def summary(result: BisectResult) -> Iterator[str]:
    """Yield the numbers of outputs, nodes and runs, and the inputs, runtimes and CPU."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    right = sum(not output.outcome for output in result.outputs)
    inputs = ", ".join(f"{name} {shape}" for name, shape in result.input_shapes.items())
    seed = "" if result.seed is None else f"; made up with seed {result.seed}"
    yield f"outputs: {len(result.outputs)}, equal: {right}; nodes: {result.nodes}; runs until they part: {result.runs}"
    yield f"inputs: {inputs or 'none'}{seed}; {result.setting}; {versions}; {result.environment.cpu}"


def facts(parting: Parting) -> dict[str, str]:
    """Return the facts of a parting, by label; empty if unknown."""
    return {
        "in the reference": parting.reference_node,
        "nodes": ", ".join(parting.nodes) if len(parting.nodes) > 1 else "",
        "what was observed": parting.detail,
        "constants that differ": "; ".join(parting.constants),
        "reproducer": parting.reproducer,
        "run it with": parting.command,
    }


def picture(fields: Sequence[Sequence[float]]) -> list[str]:
    """Draw the grid of differences as text, the last dimension across."""
    last = len(_SHADES) - 1
    rows = ("".join(_SHADES[min(last, int(share * last) + 1) if share else 0] for share in row) for row in fields)
    return [f"  |{row}|" for row in rows]


def _parting(parting: Parting) -> Iterator[str]:
    yield parting.node
    for name, fact in facts(parting).items():
        if fact:
            yield f"  {name}: {fact}"
    where = parting.output.difference
    if where is not None and any(share < 1 / 2 for row in where.picture for share in row):
        yield f"  where '{parting.output.name}' differs, as rows, its last dimension across:"
        yield from picture(where.picture)
