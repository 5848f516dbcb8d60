"""Text report of `ov-gather prove`: per file a table of sites that are not proved, and the requirements on inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ov_gather.ranges.proof import Proof, Proofs, Status
from ov_gather.ranges.proofs import requirements
from ov_gather.report.findings import text as findings_text
from ov_gather.report.places import path_text
from ov_gather.report.proofs.report import ProofReport, ProvedFile, next_steps
from ov_gather.system.tables import cell, counted, joined, new_table, printable

if TYPE_CHECKING:
    from rich.table import Table

_STYLE: Mapping[Status, str] = {"proved": "green", "refuted": "red", "conditional": "yellow", "unknown": "yellow"}


def render(report: ProofReport, *, verbose: bool = False) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing. Unreadable files are reported elsewhere.

    A row is all sites with the same condition, or unknown for the same reason. `verbose` lists each, and proved ones, too. The
    last lines are commands for what is not proved.
    """
    for file in report.files:
        if file.is_read:
            yield from _file(file, verbose)
    yield summary(report)
    yield from (f"next: {printable(command)}  # {purpose}" for command, purpose in next_steps(report))


def summary(report: ProofReport) -> str:
    """Return the number of sites by status, and of files that could be read."""
    counts = ", ".join(f"{number} {status}" for status, number in report.counts.items())
    return f"{counts} in {counted(sum(file.is_read for file in report.files), 'file')}"


def _file(file: ProvedFile, verbose: bool) -> Iterator[Table | str]:
    path = printable(path_text(file.path))
    if file.findings:
        yield from findings_text.lines(file.findings)
        yield f"{path}: nothing is proved of a model with errors"
        return
    listed = [proof for proof in file.proofs if verbose or proof.status != "proved"]
    counts = ", ".join(f"{number} {status}" for status, number in file.counts.items() if number)
    yield f"{path}: {counts or 'no gather or scatter'}"
    if listed:
        yield _table([[proof] for proof in listed] if verbose else _alike(listed))
    if found := requirements(file.conditions):
        yield "what is conditional is in bounds if"
        yield from (f"  {printable(str(requirement))}" for requirement in found)


def _alike(proofs: Sequence[Proof]) -> list[list[Proof]]:
    """Group proofs by status and reason, in the order of the first ones; each refuted site is to be mended, and is alone."""
    groups: dict[tuple[object, ...], list[Proof]] = {}
    for proof in proofs:
        which = proof if proof.status == "refuted" else ""
        groups.setdefault((proof.status, proof.reason, id(which)), []).append(proof)
    return [*groups.values()]


def _table(groups: Sequence[Sequence[Proof]]) -> Table:
    from rich.table import Column

    table = new_table(*(Column(name, overflow="fold") for name in Proofs.columns))
    for group in groups:
        columns = zip(*map(Proofs.row, group), strict=True)
        table.add_row(*(cell(joined(texts)) for texts in columns), style=_STYLE[group[0].status])
    return table
