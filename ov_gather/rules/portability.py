"""7xx: legal to read, but a runtime will not do what the document says."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.conditions import NARROWED_BY_CPU
from ov_gather.findings import Severity
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, layer_rule
from ov_gather.rules.indices import first_constant_index


@layer_rule("OVG701", Severity.WARNING)
def negative_constant_index(view: LayerView) -> Iterator[Violation]:
    """A constant index is negative where the operation's page does not allow it.

    ONNX counts it from the end of the axis. So does the OpenVINO CPU runtime from 2025.3 on; older ones refuse or misread it.
    """
    rule = view.operation.index_rule
    found = first_constant_index(view, lambda indices, size: (indices < rule.lowest_specified(size)) & (indices >= -size))
    if found:
        place, value, count, size = found
        port = view.layer.inputs[rule.port]
        yield Violation(
            f"{place} = {value} is negative ({count} such in all); {view.operation.name} specifies {rule.specified}",
            f"write {value + size}; OpenVINO counts negative indices from the end only since {rule.negative_since}",
            port.line,
            view.layer,
            port.id,
        )


@layer_rule("OVG702", Severity.NOTE)
def narrowed_by_cpu(view: LayerView) -> Iterator[Violation]:
    """The data has 64-bit elements, which the OpenVINO CPU plugin narrows to 32 bits before any operation sees them.

    Integers wrap around at 2^32; float64 becomes float32. Results are exact only for values that 32 bits hold.
    """
    data_type = view.input_types[0]
    if data_type in NARROWED_BY_CPU:
        port = view.layer.inputs[0]
        yield Violation(
            f"data is {data_type}, which the OpenVINO CPU plugin computes as {NARROWED_BY_CPU[data_type]}",
            "results are exact only for values that 32 bits hold",
            port.line,
            view.layer,
            port.id,
        )


@layer_rule("OVG703", Severity.NOTE)
def open_rank(view: LayerView) -> Iterator[Violation]:
    """The rank of an input is open. The OpenVINO CPU plugin does not compile a model whose inputs have no rank."""
    for given, shape, port in zip(view.operation.inputs, view.input_shapes, view.layer.inputs, strict=True):
        if shape.rank is None:
            yield Violation(
                f"the rank of {given.name} is open, which the OpenVINO CPU plugin does not take",
                "declare a rank; its dimensions may stay open",
                port.line,
                view.layer,
                port.id,
            )
