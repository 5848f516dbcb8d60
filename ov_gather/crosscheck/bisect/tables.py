"""Tables of where two models part."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ov_gather.crosscheck.bisect.records import Parting
from ov_gather.crosscheck.tables import new_table
from ov_gather.tables import cell


def partings_table(partings: Sequence[Parting]) -> Table:
    """Return one row for each value that goes into a node that is to blame, and one for what comes out."""
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
