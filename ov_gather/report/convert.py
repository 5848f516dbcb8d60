"""Reports of `ov-gather convert`: tables of rewrites and inexactness, and lines below the table of a verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table

from ov_gather.crosscheck.results import Comparison, CrossCheckResult, Status
from ov_gather.system.tables import cell

if TYPE_CHECKING:
    from ov_gather.converters.inexactness import Inexactness
    from ov_gather.converters.legalize import Rewrite


def tables(rewrites: Sequence[Rewrite], inexactness: Sequence[Inexactness] = (), original: str = "ONNX") -> Iterator[Table]:
    """Yield a table with one row per kind of rewrite, and one per kind of inexactness, each with its places.

    `original` names the source format.
    """
    if rewrites:
        told = [(rewrite.what if rewrite.done else f"left: {rewrite.what}", rewrite.node) for rewrite in rewrites]
        yield _table("rewritten", told)
    if inexactness:
        yield _table(f"not as {original} says", [(each.what, each.place) for each in inexactness])


def _table(title: str, told: Sequence[tuple[str, str]]) -> Table:
    """Group messages and list the places of each."""
    places: dict[str, list[str]] = {}
    for what, place in told:
        places.setdefault(what, []).append(place)
    columns = (Column(name, max_width=width, overflow="fold") for name, width in ((title, 40), ("where", 53)))
    table = Table(*columns, show_lines=True)  # at most 100 characters wide
    for what, those in places.items():
        table.add_row(cell(what), cell(*those))
    return table


def verification_summary(result: CrossCheckResult) -> list[str]:
    """Return the lines: reference, omissions, gathers to blame, and counts."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    reference = next(iter(result.environment.versions))
    lines = [f"{result.path}: compared with {reference} on the original: {versions}; seed {result.seed}."]
    lines += [f"{result.path}: {result.problem}"] if result.problem else []
    lines += [f"{result.path}: {note}" for note in result.notes]
    if result.not_run:
        return [*lines, f"{result.path}: not verified: {result.not_run}"]
    lines += [f"{name} is in a body, and not compared on its own" for name in result.in_bodies]
    failed = not result.passed and all(layer.passed for layer in result.layers) and not result.problem
    if failed and result.blamed:
        lines.append(
            f"Every gather is right on its own operands, but not in the model: with our operations in the place of "
            f"{', '.join(result.blamed)} the outputs are right. Convert it with --target extension."
        )
    elif failed:
        lines.append("Every gather is right on its own operands: what differs comes from elsewhere in the model.")
    count = sum(layer.passed for layer in result.layers)
    outputs = [output.comparison for output in result.outputs if output.comparison.passed]
    lines.append(
        f"outputs: {len(result.outputs)}, passed: {len(outputs)}{_kinds(outputs)}; gathers: {len(result.layers)}, "
        f"passed: {count}: {'passed' if result.passed else 'FAILED'}"
    )
    return lines


def _kinds(passed: Sequence[Comparison]) -> str:
    """Return how many outputs passed for which reason, in parentheses; "" if there is none."""
    kinds = {
        "same bits": sum(each.has_same_bits for each in passed if each.status is Status.PASSED),
        "within tolerance": sum(each.is_within_tolerance for each in passed),
        "explained": sum(each.status is Status.EXPECTED for each in passed),
    }
    return f" ({', '.join(f'{kind}: {count}' for kind, count in kinds.items() if count)})" if passed else ""
