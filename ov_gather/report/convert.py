"""Reports of `ov-gather convert`: tables of rewrites and inexactness, and lines below the table of a verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from rich.table import Column, Table

from ov_gather.crosscheck.results import Comparison, CrossCheckResult, LayerResult, OutputResult, Status, model_table
from ov_gather.system.tables import cell, new_table

if TYPE_CHECKING:
    from ov_gather.converters.inexactness import Inexactness
    from ov_gather.converters.legalize import Rewrite


T = TypeVar("T")
_MOST = 10
"""Places of one kind, and rows, that are listed without --verbose."""


def tables(
    rewrites: Sequence[Rewrite],
    inexactness: Sequence[Inexactness] = (),
    original: str = "ONNX",
    *,
    every_place: bool = False,
) -> Iterator[Table | str]:
    """Yield a table of the kinds of rewrites, and one of inexactness, with the first places or all; then a blank line.

    `original` names the source format.
    """
    if rewrites:
        told = [(rewrite.what if rewrite.done else f"left: {rewrite.what}", rewrite.node) for rewrite in rewrites]
        yield from (_table("rewritten", told, every_place), "")
    if inexactness:
        yield from (_table(f"not as {original} says", [(each.what, each.place) for each in inexactness], every_place), "")


def _table(title: str, told: Sequence[tuple[str, str]], every_place: bool) -> Table:
    """Group messages and list the places of each."""
    places: dict[str, list[str]] = {}
    for what, place in dict.fromkeys(told):  # one node may be told of for several of its outputs
        places.setdefault(what, []).append(place)
    columns = (Column(name, max_width=width, overflow="fold") for name, width in ((title, 40), ("where", 57)))
    table = new_table(*columns)  # at most 100 characters wide
    for what, those in places.items():
        listed = those if every_place or len(those) <= _MOST else [*those[:_MOST], f"{len(those) - _MOST} more: --verbose"]
        table.add_row(cell(what), cell(*listed))
    return table


def verification(result: CrossCheckResult, *, every_row: bool = False) -> Iterator[Table | str]:
    """Yield the table and the lines below it. A long table begins with the verdict, and has what failed and the first rows."""
    outputs: Sequence[OutputResult] = result.outputs
    layers: Sequence[LayerResult] = result.layers
    hidden = 0
    if len(outputs) + len(layers) > _MOST and not every_row:
        yield _verdict(result)
        outputs = _first(outputs, [output.comparison.passed for output in outputs])
        layers = _first(layers, [layer.passed for layer in layers])
        hidden = len(result.outputs) + len(result.layers) - len(outputs) - len(layers)
    yield model_table(outputs, layers)
    if hidden:
        yield f"{hidden} more passed: --verbose lists them"
    yield from verification_summary(result)


def _first(rows: Sequence[T], passed: Sequence[bool]) -> list[T]:
    """Return the rows that did not pass, and the first others, in order."""
    right = [row for row, is_right in zip(rows, passed, strict=True) if is_right][: _MOST // 2]
    return [row for row, is_right in zip(rows, passed, strict=True) if not is_right or row in right]


def verification_summary(result: CrossCheckResult) -> list[str]:
    """Return the lines: reference, omissions, gathers to blame, and counts."""
    versions = ", ".join(f"{name} {version}" for name, version in result.environment.versions.items())
    reference = next(iter(result.environment.versions))
    lines = [f"{result.path}: compared with {reference} on the original: {versions}; seed {result.seed}."]
    lines += [f"{result.path}: {result.problem}"] if result.problem else []
    lines += [f"{result.path}: {note}" for note in result.notes]
    if result.not_run:
        return [*lines, f"{result.path}: not verified: {result.not_run}"]
    if result.in_bodies:
        more = f" and {len(result.in_bodies) - _MOST} more" if len(result.in_bodies) > _MOST else ""
        lines.append(f"in bodies, and not compared on their own: {', '.join(result.in_bodies[:_MOST])}{more}")
    failed = not result.passed and all(layer.passed for layer in result.layers) and not result.problem
    if failed and result.blamed:
        alone = "Every gather is right on its own operands, but not in the model: with" if result.layers else "With"
        places = ", ".join(result.blamed)
        lines.append(
            f"{alone} our operations in the place of {places} the outputs are right. Convert it with --target extension."
        )
    elif failed and result.layers:
        lines.append("Every gather is right on its own operands: what differs comes from elsewhere in the model.")
    return [*lines, _verdict(result)]


def _verdict(result: CrossCheckResult) -> str:
    count = sum(layer.passed for layer in result.layers)
    outputs = [output.comparison for output in result.outputs if output.comparison.passed]
    return (
        f"outputs: {len(result.outputs)}, passed: {len(outputs)}{_kinds(outputs)}; gathers: {len(result.layers)}, "
        f"passed: {count}: {'passed' if result.passed else 'FAILED'}"
    )


def _kinds(passed: Sequence[Comparison]) -> str:
    """Return how many outputs passed for which reason, in parentheses; "" if there is none."""
    kinds = {
        "same bits": sum(each.has_same_bits for each in passed if each.status is Status.PASSED),
        "within tolerance": sum(each.is_within_tolerance for each in passed),
        "explained": sum(each.status is Status.EXPECTED for each in passed),
    }
    return f" ({', '.join(f'{kind}: {count}' for kind, count in kinds.items() if count)})" if passed else ""
