"""A proof: whether the indices of one gather or scatter can be out of bounds, for which inputs, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ov_gather.graph.excerpts import Excerpt
from ov_gather.ranges.bounds import Bound
from ov_gather.ranges.terms import Condition
from ov_gather.ranges.witness import Witness
from ov_gather.system.tables import InNotebooks, TableList

if TYPE_CHECKING:
    from rich.table import Table

Status = Literal["proved", "refuted", "conditional", "unknown"]
Requires = Mapping[str, tuple[Bound, Bound]]


@dataclass(frozen=True, repr=False)
class Proof(InNotebooks):
    """The verdict on the indices of one gather or scatter, or on one input with indices of another operation.

    Attributes:
        layer: the name of the layer, prefixed by those of the layers whose bodies contain it.
        type: the type of the layer, e.g. "Gather".
        line: the line of the layer in its document; 0 if unknown.
        status: "proved": every index is in bounds for all inputs. "refuted": every run that gets here has one out of bounds.
            "conditional": every index is in bounds if inputs and sizes satisfy `requires`. "unknown": none of these was shown.
        axis: the axis of data that the indices address; for coordinate tuples, the axis that `index_range` is about.
        axis_size: the size of this axis, for lengths plus 1; None if unknown.
        index_range: the least and the greatest index.
        reason: an explanation of the status for people.
        conditions: what inputs and sizes must satisfy.
        example: for a conditional site, sizes of dimensions and a value for all elements of each input that satisfy `requires`;
            if possible, an example for all conditional sites of the model.
        others: other conditions that suffice instead, which fewer typical requests satisfy.
        witness: for a refuted site, an index out of bounds, and our kernel's error; otherwise None.
        path: how the indices are computed, with what is known of each value; only if it was asked for.
    """

    layer: str
    type: str
    line: int
    status: Status
    axis: int | None
    axis_size: int | str | None
    index_range: tuple[Bound, Bound]
    reason: str
    conditions: tuple[Condition, ...] = ()
    witness: Witness | None = None
    example: Mapping[str, int | float] = field(default_factory=dict, compare=False)
    others: tuple[tuple[Condition, ...], ...] = ()
    path: Excerpt | None = field(default=None, repr=False, compare=False)

    @property
    def requires(self) -> Requires:
        """The conditions for people: the least and the greatest value, by what they are about.

        That is an input or a part of one such as "x[:, 0]", an open dimension such as "dim(x, 1)", or a product or sum such as
        "dim(x, 0) * dim(y, 0)". Names that would be misread there are quoted.
        """
        return _requires(self.conditions)

    @property
    def alternatives(self) -> tuple[Requires, ...]:
        """Other requirements that suffice instead, which fewer typical requests satisfy."""
        return tuple(map(_requires, self.others))

    @property
    def headline(self) -> str:
        """Layer, status and reason."""
        return f"{self.type} '{self.layer}': {self.status}, {self.reason}"

    def table(self) -> Table:
        """Return a table for `rich.print`."""
        return Proofs([self]).table()


class Proofs(TableList[Proof]):
    """A list of proofs that a notebook shows as a table."""

    columns = ("layer", "status", "indices", "axis", "why")

    @staticmethod
    def row(entry: Proof) -> tuple[str, ...]:
        """Return layer, status, range of indices, axis with its size, and reason."""
        layer = f"{entry.type} '{entry.layer}'" + (f", line {entry.line}" if entry.line else "")
        axis = "?" if entry.axis is None else f"{entry.axis}: {entry.axis_size}"
        return layer, entry.status, range_text(*entry.index_range), axis, why(entry)


def _requires(conditions: Iterable[Condition]) -> Requires:
    return {str(condition.subject): condition.bounds for condition in conditions}


def range_text(low: Bound, high: Bound) -> str:
    """Return the bounds of indices, e.g. "0..?"."""
    if low == high:
        return "any" if low is None else f"{low}"
    return f"{'?' if low is None else low}..{'?' if high is None else high}"


def why(proof: Proof) -> str:
    """Return the reason for a status, with our kernel's error if a witness refutes the site."""
    return proof.reason if proof.witness is None else f"{proof.reason}: {proof.witness.error}"
