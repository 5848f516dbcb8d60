"""Tables of where two models part."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ov_gather.crosscheck.bisect.records import Parting
from ov_gather.crosscheck.tables import new_table


def partings_table(partings: Sequence[Parting]) -> Table:
    """Return one row for each value that goes into a node that is to blame, and one for what comes out."""
    table = new_table("node", "", "value", "type", "outcome")
    for parting in partings:
        for i, given in enumerate(parting.inputs):
            node = parting.node if i == 0 else ""
            table.add_row(Text(node, overflow="fold"), "in", Text(given.name, overflow="fold"), given.type, Text(given.outcome))
        output = parting.output
        node = "" if parting.inputs else parting.node
        outcome = Text(output.outcome, overflow="fold")
        table.add_row(Text(node, overflow="fold"), "out", Text(output.name, overflow="fold"), output.type, outcome, style="red")
        table.add_section()
    return table
