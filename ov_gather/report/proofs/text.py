"""Text report of `ov-gather prove`: per file a table of sites that are not proved, and the requirements on inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ov_gather.ranges.bounds import Bound
from ov_gather.ranges.proofs import Proof, Status, requirements
from ov_gather.report.findings import text as findings_text
from ov_gather.report.places import path_text
from ov_gather.report.proofs.report import ProofReport, ProvedFile
from ov_gather.system.tables import cell, new_table, printable

if TYPE_CHECKING:
    from rich.table import Table

_STYLE: Mapping[Status, str] = {"proved": "green", "refuted": "red", "conditional": "yellow", "unknown": "yellow"}


def render(report: ProofReport, *, with_proved: bool = False) -> Iterator[Table | str]:
    """Yield tables and lines in the order of printing. Unreadable files are reported elsewhere.

    `with_proved` also lists proved sites.
    """
    read = [file for file in report.files if file.is_read]
    for file in read:
        yield from _file(file, with_proved)
    counted = ", ".join(f"{number} {status}" for status, number in report.counts.items())
    yield f"{counted} in {len(read)} file{'' if len(read) == 1 else 's'}"


def _file(file: ProvedFile, with_proved: bool) -> Iterator[Table | str]:
    path = printable(path_text(file.path))
    if file.findings:
        yield from findings_text.lines(file.findings)
        yield f"{path}: nothing is proved of a model with errors"
        return
    listed = [proof for proof in file.proofs if with_proved or proof.status != "proved"]
    counted = ", ".join(f"{number} {status}" for status, number in file.counts.items() if number)
    yield f"{path}: {counted or 'no gather or scatter'}"
    if listed:
        yield _table(listed)
    if found := requirements(file.proofs):
        yield "what is conditional is in bounds if"
        yield from (f"  {printable(str(requirement))}" for requirement in found)


def _table(proofs: Sequence[Proof]) -> Table:
    from rich.table import Column

    table = new_table(*(Column(name, overflow="fold") for name in ("layer", "status", "indices", "axis", "why")))
    for proof in proofs:
        layer = f"{proof.type} '{proof.layer}'" + (f", line {proof.line}" if proof.line else "")
        axis = "?" if proof.axis is None else f"{proof.axis}: {proof.axis_size}"
        cells = (layer, proof.status, range_text(*proof.index_range), axis, why(proof))
        table.add_row(*map(cell, cells), style=_STYLE[proof.status])
    return table


def range_text(low: Bound, high: Bound) -> str:
    """Return the bounds of indices, e.g. "0..?"."""
    if low == high:
        return "any" if low is None else f"{low}"
    return f"{'?' if low is None else low}..{'?' if high is None else high}"


def why(proof: Proof) -> str:
    """Return the reason for a status, with our kernel's error if a witness refutes the site."""
    return proof.reason if proof.witness is None else f"{proof.reason}: {proof.witness.error}"
