"""The result of `ov_gather.harden`: what was proved for each gather and scatter, and what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ov_gather.system.tables import FEW, InNotebooks, as_text, briefly, counted, table_of

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS = ("layer", "operation", "indices", "changed", "why")


@dataclass(slots=True)
class HardenedSite:
    """A gather or scatter, and what was proved and changed.

    Attributes:
        layer: its name, behind the names of the layers whose bodies contain it.
        operation: e.g. "Gather-8".
        status: "proved", "refuted", "conditional" or "unknown".
        reason: why the proof has this status.
        done: the change; empty if there is none.
        kept: why an unproved site needs no guard, or that it cannot have one; empty otherwise.
    """

    layer: str
    operation: str
    status: str
    reason: str
    done: str = ""
    kept: str = ""

    @property
    def row(self) -> tuple[str, ...]:
        """The cells of its row in a table."""
        return self.layer, self.operation, self.status, self.done or "no", "; ".join(filter(None, (self.reason, self.kept)))


@dataclass(frozen=True, slots=True, repr=False)
class HardeningSummary(InNotebooks):
    """The gathers and scatters of a hardened model. `str` formats them as a table.

    Attributes:
        guards: number of inserted guards; one may serve several sites.
    """

    sites: tuple[HardenedSite, ...]
    guards: int

    @property
    def changed(self) -> tuple[HardenedSite, ...]:
        """The gathers and scatters that were changed."""
        return tuple(site for site in self.sites if site.done)

    @property
    def headline(self) -> str:
        """The number of gathers and scatters that were changed, and of guards."""
        return f"{len(self.changed)} of {len(self.sites)} gathers and scatters changed, {counted(self.guards, 'guard')}"

    def table(self) -> Table:
        """Return a table with one row per gather or scatter, for `rich.print`."""
        return table_of(_COLUMNS, [site.row for site in self.sites])

    def briefly(self) -> Iterator[Table | str]:
        """Yield a table; of more than FEW sites, merge alike ones that were changed or not proved, and count the others."""
        if len(self.sites) <= FEW:
            yield self.table() if self.sites else str(self)
            return
        listed = (site.row for site in self.sites if site.done or site.status != "proved")
        proved = (site.reason for site in self.sites if not site.done and site.status == "proved")
        yield from briefly(_COLUMNS, listed, proved, "unchanged, proved")

    def __str__(self) -> str:
        return as_text(self.table()) if self.sites else "no gathers or scatters: the model is unchanged"
