"""Tables of 16-bit numbers, as IRs have them that are saved compressed, are gathered as they are, and only what is gathered is
converted.

OpenVINO's Gather-8 reads such a table, too, but converts element by element: ours and a Convert are up to 7 times as fast.
Before other operations it converts the whole table when it compiles, which then takes twice the memory.
"""

from __future__ import annotations

from ov_gather.acceleration.axis_sizes import batch_dims
from ov_gather.acceleration.changes import Tracker, why_not_ours
from ov_gather.acceleration.graph import nodes_of, operation, ours, readers, take_place
from ov_gather.acceleration.rounding import stays_given
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops

_OURS = ("ov_gather.Gather", "ov_gather.GatherElements", "ov_gather.GatherND")
_GATHERS = {"f16": ("Gather-8", *_OURS), "bf16": ("Gather-8",)}
"""What gathers a table of each type as it is. In a table of f32 the plugin makes denormal numbers zeros, and only bf16 has
numbers that are denormal in f32."""


def gather_halves(model: Model, tracker: Tracker) -> None:
    """Rewrite where nothing but gathers read the table, and each of them gains."""
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
    """Tell why a gather stays; empty if ours gains. To call ours takes 5 us more where shapes are open."""
    if operation(gather) == "Gather-8" and gather.get_output_partial_shape(0).is_dynamic:
        return "how much it gathers is open, and a little OpenVINO's own gathers faster"
    return why_not_ours(gather, gather)


def is_half_table(data: Output) -> bool:
    """Tell whether f32 is converted from a Constant of f16 or bf16."""
    convert = data.get_node()
    if convert.get_type_name() != "Convert" or data.get_element_type().get_type_name() != "f32":
        return False
    table = convert.input_value(0)
    return table.get_node().get_type_name() == "Constant" and table.get_element_type().get_type_name() in ("f16", "bf16")


def of_half_table(gather: Node, table: Output) -> Node:
    """Let a gather of ours of the table, and a Convert behind it, take the place of one; return the gather of ours.

    It yields zeros where Gather-8 does, for an index out of bounds.
    """
    inputs = [table, *gather.input_values()[1:]]
    if operation(gather) == "Gather-8":
        half = ours("Gather", inputs, {"batch_dims": batch_dims(gather), "bounds": "zero"})
    else:
        half = ours(gather.get_type_name(), inputs, gather.get_attributes())
    half.set_friendly_name(f"{gather.get_friendly_name()}/halves")
    take_place(gather, ops.convert(half, "f32"))
    return half
