"""This module tells what became of each gather and scatter of a model that was hardened, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ov_gather.tables import InNotebooks, as_text, table_of

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(slots=True)
class HardenedSite:
    """A HardenedSite is a gather or scatter as it was, and what was done to it.

    Attributes:
        layer: the name of the layer, behind those of the layers in whose bodies it is.
        operation: e.g. "Gather-8".
        status: what was proved of the indices: "proved", "refuted", "conditional", "unknown".
        reason: why this is the status.
        done: what was done; empty where the site stays as it was.
        kept: why nothing had to be done; empty where something was.
    """

    layer: str
    operation: str
    status: str
    reason: str
    done: str = ""
    kept: str = ""


@dataclass(frozen=True, slots=True)
class HardeningSummary(InNotebooks):
    """All gathers and scatters of a model that was hardened. `str` makes a table of them.

    Attributes:
        guards: how many guards were inserted; one may serve several sites.
    """

    sites: tuple[HardenedSite, ...]
    guards: int

    @property
    def changed(self) -> tuple[HardenedSite, ...]:
        """The gathers and scatters to which something was done."""
        return tuple(site for site in self.sites if site.done)

    def table(self) -> Table:
        """Return one row a gather or scatter, for `rich.print`."""
        rows = (
            (site.layer, site.operation, site.status, site.done or "no", "; ".join(filter(None, (site.reason, site.kept))))
            for site in self.sites
        )
        return table_of(("layer", "operation", "indices", "changed", "why"), rows)

    def __str__(self) -> str:
        return as_text(self.table()) if self.sites else "no gathers or scatters: the model is unchanged"
