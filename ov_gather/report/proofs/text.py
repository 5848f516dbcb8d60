"""Text report of `ov-gather prove`: per file a table of sites that are not proved, and the requirements on inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ov_gather.ranges.proof import Proof, Proofs, Status
from ov_gather.ranges.proofs import requirements
from ov_gather.report.findings import text as findings_text
from ov_gather.report.places import path_text
from ov_gather.report.proofs.report import ProofReport, ProvedFile
from ov_gather.system.tables import cell, counted, new_table, printable

if TYPE_CHECKING:
    from rich.table import Table

_STYLE: Mapping[Status, str] = {"proved": "green", "refuted": "red", "conditional": "yellow", "unknown": "yellow"}


def render(report: ProofReport, *, with_proved: bool = False) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing. Unreadable files are reported elsewhere.

    `with_proved` also lists proved sites.
    """
    for file in report.files:
        if file.is_read:
            yield from _file(file, with_proved)
    yield summary(report)


def summary(report: ProofReport) -> str:
    """Return the number of sites by status, and of files that could be read."""
    counts = ", ".join(f"{number} {status}" for status, number in report.counts.items())
    return f"{counts} in {counted(sum(file.is_read for file in report.files), 'file')}"


def _file(file: ProvedFile, with_proved: bool) -> Iterator[Table | str]:
    path = printable(path_text(file.path))
    if file.findings:
        yield from findings_text.lines(file.findings)
        yield f"{path}: nothing is proved of a model with errors"
        return
    listed = [proof for proof in file.proofs if with_proved or proof.status != "proved"]
    counts = ", ".join(f"{number} {status}" for status, number in file.counts.items() if number)
    yield f"{path}: {counts or 'no gather or scatter'}"
    if listed:
        yield _table(listed)
    if found := requirements(file.conditions):
        yield "what is conditional is in bounds if"
        yield from (f"  {printable(str(requirement))}" for requirement in found)


def _table(proofs: Sequence[Proof]) -> Table:
    from rich.table import Column

    table = new_table(*(Column(name, overflow="fold") for name in Proofs.columns))
    for proof in proofs:
        table.add_row(*map(cell, Proofs.row(proof)), style=_STYLE[proof.status])
    return table
