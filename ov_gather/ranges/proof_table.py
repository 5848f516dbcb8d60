"""Proofs as a table, for reports and notebooks."""

from __future__ import annotations

from ov_gather.ranges.proofs import Bound, Proof
from ov_gather.system.tables import TableList


class Proofs(TableList[Proof]):
    """A list of proofs that a notebook shows as a table."""

    columns = ("layer", "status", "indices", "axis", "why")

    @staticmethod
    def row(entry: Proof) -> tuple[str, ...]:
        """Return layer, status, range of indices, axis with its size, and reason."""
        layer = f"{entry.type} '{entry.layer}'" + (f", line {entry.line}" if entry.line else "")
        axis = "?" if entry.axis is None else f"{entry.axis}: {entry.axis_size}"
        return layer, entry.status, _range_text(*entry.index_range), axis, why(entry)


def _range_text(low: Bound, high: Bound) -> str:
    if low == high:
        return "any" if low is None else f"{low}"
    return f"{'?' if low is None else low}..{'?' if high is None else high}"


def why(proof: Proof) -> str:
    """Return the reason for a status, with our kernel's error if a witness refutes the site."""
    return proof.reason if proof.witness is None else f"{proof.reason}: {proof.witness.error}"
