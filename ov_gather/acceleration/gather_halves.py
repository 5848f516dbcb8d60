"""Gathers of 16-bit float tables, as compressed IRs store them, that convert only the gathered elements.

before: Gather(Convert(table f16), indices)
after:  Convert(ov_gather.Gather(table f16, indices))

OpenVINO's Gather-8 reads the 16-bit table, too, but converts element by element: ours with a Convert is up to 7 times as
fast. Before other operations OpenVINO converts the whole table at compile time, which doubles its memory.
"""

from __future__ import annotations

from ov_gather.acceleration.axis_sizes import batch_dims
from ov_gather.acceleration.changes import Tracker, why_not_ours
from ov_gather.acceleration.graph import nodes_of, operation, ours, readers, replace_node
from ov_gather.acceleration.operators import is_converted, our_gather
from ov_gather.acceleration.rounding import stays_given
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops

_OURS = ("ov_gather.Gather", "ov_gather.GatherElements", "ov_gather.GatherND")
_GATHERS = {"f16": ("Gather-8", *_OURS), "bf16": ("Gather-8",)}
"""Gathers that are rewritten, by table type. bf16: for our gathers the plugin converts the table to f32 and flushes denormals,
which bf16, unlike f16, can hold; the rewrite would keep them.
"""


def gather_halves(model: Model, tracker: Tracker) -> None:
    """Rewrite if only gathers read the table and our operation is faster for each."""
    for convert in nodes_of(model, "Convert-1"):
        table, gathers = convert.input_value(0), readers(convert)
        if not is_half_table(convert.output(0)) or any(map(tracker.leaves, gathers)):
            continue
        kind = table.get_element_type().get_type_name()
        if any(operation(gather) not in _GATHERS[kind] for gather in gathers):
            continue
        reasons = [reason for gather in gathers if (reason := _why_not(gather))]
        for gather in gathers:
            if reasons:
                tracker.kept(gather, f"its table is not gathered in 16 bits: {reasons[0]}")
                continue
            rounds = not stays_given(gather)
            half = of_half_table(gather, table)
            tracker.done(gather, f"{operation(half)} of {kind}", half, rounds=rounds)


def _why_not(gather: Node) -> str:
    """Return the reason to leave a gather; empty if ours is faster. With dynamic shapes, calling ours costs 5 us more."""
    if operation(gather) == "Gather-8" and gather.get_output_partial_shape(0).is_dynamic:
        return "how much it gathers is open, and a little OpenVINO's own gathers faster"
    return why_not_ours(gather, gather)


def is_half_table(data: Output) -> bool:
    """Return True if `data` are f32 converted from a Constant of f16 or bf16."""
    convert = data.get_node()
    if not is_converted(convert) or data.get_element_type().get_type_name() != "f32":
        return False
    table = convert.input_value(0)
    return table.get_node().get_type_name() == "Constant" and table.get_element_type().get_type_name() in ("f16", "bf16")


def of_half_table(gather: Node, table: Output) -> Node:
    """Replace a gather by ours on the 16-bit table with a Convert behind it; return the new gather.

    Like Gather-8, it writes zeros for indices out of bounds if it replaces one.
    """
    inputs = [table, *gather.input_values()[1:]]
    if operation(gather) == "Gather-8":
        half = our_gather(inputs, batch_dims=batch_dims(gather), bounds="zero")
    else:
        half = ours(gather.get_type_name(), inputs, gather.get_attributes())
    half.set_friendly_name(f"{gather.get_friendly_name()}/halves")
    replace_node(gather, ops.convert(half, "f32"))
    return half
