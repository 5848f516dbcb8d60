"""Table of partings."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ov_gather.crosscheck.bisect.records import Parting
from ov_gather.crosscheck.tables import new_table
from ov_gather.system.tables import cell


def partings_table(partings: Sequence[Parting]) -> Table:
    """Return a table with one row per input of the guilty nodes, and one for the output."""
    table = new_table("node", "", "value", "type", "outcome")
    for parting in partings:
        for i, given in enumerate(parting.inputs):
            node = parting.node if i == 0 else ""
            table.add_row(*map(cell, (node, "in", given.name, given.type, given.outcome)))
        output = parting.output
        node = "" if parting.inputs else parting.node
        table.add_row(*map(cell, (node, "out", output.name, output.type, output.outcome)), style="red")
        table.add_section()
    return table
