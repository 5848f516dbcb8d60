"""Text report of a bisection, suitable for a bug report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ov_gather.crosscheck.bisect.results import BisectResult, Culprit
from ov_gather.crosscheck.deviation import far_off

if TYPE_CHECKING:
    from rich.table import Table

_SHADES = " .:*#"


def render(result: BisectResult) -> Iterator[Table | str]:
    """Yield the verdict, a table of values, the facts of each culprit, and what was compared."""
    yield from found(result)
    yield from notes(result)
    yield from summary(result)


def found(result: BisectResult) -> Iterator[Table | str]:
    """Yield the verdict, a table of values, and the facts of each culprit."""
    yield headline(result)
    if result.culprits:
        yield result.table()
    for culprit in result.culprits:
        yield from _culprit(culprit)


def headline(result: BisectResult) -> str:
    """Return the verdict as one sentence."""
    if result.not_run:
        return f"{result.model}: not compared with {result.reference}: {result.not_run}"
    if result.culprits:
        return f"{result.model} differs from {result.reference} at {result.node}"
    if not result.passed:
        return f"{result.model} differs from {result.reference}, but no node could be found"
    return f"{result.model} computes what {result.reference} does"


def notes(result: BisectResult) -> Iterator[str]:
    """Yield what could not be compared, and the outputs that differ, with their excuses."""
    yield from result.notes
    for output in result.outputs:
        observed = "; ".join(filter(None, (output.outcome, far_off(output.deviation))))
        if output.excuse:
            yield f"output '{output.name}' may differ: {output.excuse} ({observed})"
        elif output.outcome:
            yield f"output '{output.name}': {observed}"
        elif observed:
            limit = f"within {output.tolerance}" if output.tolerance else "up to rounding"
            yield f"output '{output.name}' is equal {limit}: {observed}"


def summary(result: BisectResult) -> Iterator[str]:
    """Yield the numbers of outputs, nodes and runs, unless nothing was compared, and the inputs, runtimes and CPU."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    right = [output for output in result.outputs if not output.outcome]
    same = sum(not far_off(output.deviation) for output in right)
    inputs = ", ".join(f"{name} {shape}" for name, shape in result.input_shapes.items())
    seed = "" if result.seed is None else f"; made up with seed {result.seed}"
    excused = sum(bool(output.excuse) for output in result.outputs)
    outputs = f"outputs: {len(result.outputs)}, equal: {len(right)}{f' (same bits: {same})' if right else ''}"
    outputs += f", may differ: {excused}" if excused else ""
    if not result.not_run:
        yield f"{outputs}; nodes: {result.nodes}; runs until the first difference: {result.runs}"
    given = f"inputs: {inputs or 'none'}{seed}" if result.nodes else ""
    yield "; ".join(filter(None, (given, result.setting, versions, result.environment.cpu)))


def facts(culprit: Culprit) -> dict[str, str]:
    """Return the facts of a culprit, by label; empty if unknown."""
    return {
        "in the reference": culprit.reference_node,
        "nodes": ", ".join(culprit.nodes) if len(culprit.nodes) > 1 else "",
        "what was observed": culprit.detail,
        "constants that differ": "; ".join(culprit.constants),
        "reproducer": culprit.reproducer,
        "run it with": culprit.command,
    }


def picture(fields: Sequence[Sequence[float]]) -> list[str]:
    """Draw the grid of differences as text, the last dimension across."""
    last = len(_SHADES) - 1
    rows = ("".join(_SHADES[min(last, int(share * last) + 1) if share else 0] for share in row) for row in fields)
    return [f"  |{row}|" for row in rows]


def _culprit(culprit: Culprit) -> Iterator[str]:
    yield culprit.node
    for name, fact in facts(culprit).items():
        if fact:
            yield f"  {name}: {fact}"
    where = culprit.output.difference
    if where is not None and any(share < 1 / 2 for row in where.picture for share in row):
        yield f"  where '{culprit.output.name}' differs, as rows, its last dimension across:"
        yield from picture(where.picture)
