"""7xx: legal to read, but a runtime will not do what the document says."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.divergences import DIVERGENCES
from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.divergences.cpu_plugin import as_seen
from ov_gather.ir.constants import constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.layer_view import LayerView
from ov_gather.rules.base import Violation, layer_rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.indices import first_constant_index

_KNOWN = {divergence.name: divergence for divergence in DIVERGENCES}


@layer_rule("OVG701", Severity.WARNING)
def negative_constant_index(view: LayerView) -> Iterator[Violation]:
    """A constant index is negative where the operation's page does not allow it.

    ONNX counts it from the end of the axis. So does the OpenVINO CPU runtime from some release on, but for Gather-1 and -7,
    where it writes zeros.
    """
    rule = view.operation.index_rule
    found = first_constant_index(view, lambda indices, size: (indices < rule.lowest_specified(size)) & (indices >= -size))
    if found:
        place, value, count, size = found
        port = view.layer.inputs[rule.port]
        yield Violation(
            f"{place} = {value} is negative ({count} such in all); {view.operation.name} specifies {rule.specified}",
            f"write {value + size}; {rule.negative}",
            port.line,
            view.layer,
            port.id,
        )


@layer_rule("OVG702", Severity.NOTE)
def narrowed_by_cpu(view: LayerView) -> Iterator[Violation]:
    """The data has 64-bit elements, which the OpenVINO CPU plugin narrows to 32 bits before any operation sees them.

    Integers wrap around at 2^32; float64 becomes float32. Results are exact only for values that 32 bits hold.
    """
    data_type, source = view.input_types[0], view.producer(0)
    if data_type in NARROWED_BY_CPU and not (source and source[0].type == "ShapeOf"):  # sizes are small
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


@layer_rule("OVG704", Severity.NOTE)
def rewritten_by_cpu(view: LayerView) -> Iterator[Violation]:
    """Constant data has values that the OpenVINO CPU plugin rewrites: u32 from 2^31 on, f32 denormals."""
    known = _KNOWN["rewritten-constants"]
    try:
        data = view.constant(0) if known.applies(view, ()) else None
    except IRError:  # 5xx reports it
        return
    if data is not None and (rewritten := int((as_seen(data, constant=True) != data).sum() - (data != data).sum())):
        port = view.layer.inputs[0]
        yield Violation(f"{rewritten} values of data are not kept: {known.why}", "", port.line, view.layer, port.id)


@layer_rule("OVG705", Severity.NOTE)
def refused_by_cpu(view: LayerView) -> Iterator[Violation]:
    """The data has elements that the OpenVINO CPU plugin does not gather, or not safely: strings, u2, f4e2m1."""
    for name in ("no-strings", "unsafe-small-types"):
        known = _KNOWN[name]
        if known.concerns("openvino", "", view.operation.name) and known.applies(view, ()):
            port = view.layer.inputs[0]
            yield Violation(f"data is {view.input_types[0]}: {known.why}", "", port.line, view.layer, port.id)


@layer_rule("OVG706", Severity.WARNING)
def removed_slice(view: LayerView) -> Iterator[Violation]:
    """The data of GatherElements is a Slice from the first element on, which OpenVINO removes: what it cut off is there again.

    Then an index that is out of bounds of the slice is accepted, a negative one counts from the end of what was sliced, and
    where the slice makes sizes fit, OpenVINO refuses to compile the model.
    """
    source = view.producer(0)
    if view.operation is not GATHER_ELEMENTS_6 or source is None or source[0].type != "Slice" or len(source[0].inputs) < 4:
        return
    layer = source[0]
    if _is_all(view, layer, 1, 0) and _is_all(view, layer, 3, 1):
        yield Violation(
            f"data comes from {layer}, which starts at 0 with steps of 1: OpenVINO removes it before GatherElements",
            "start at -2147483647, which is the same",
            view.layer.inputs[0].line,
            view.layer,
            view.layer.inputs[0].id,
        )


@layer_rule("OVG707", Severity.WARNING)
def empty_gather(view: LayerView) -> Iterator[Violation]:
    """A Gather whose shapes are static has data or indices without elements: the OpenVINO CPU plugin dies when it compiles it.

    It divides by zero, which ends the process. Where one of the shapes is open, or both operands are constant, it does not.
    """
    known = _KNOWN["dies-of-empty-gathers"]
    if known.concerns("openvino", "", view.operation.name) and known.applies(view, ()):
        position = 0 if 0 in view.input_shapes[0].sizes else 1
        port = view.layer.inputs[position]
        yield Violation(
            f"{view.operation.inputs[position].name} of shape {view.input_shapes[position]} has no elements: {known.why}",
            "take the layer out, or leave a dimension of its inputs open",
            port.line,
            view.layer,
            port.id,
        )


def _is_all(view: LayerView, layer: Layer, position: int, number: int) -> bool:
    """Whether an input of a layer is constant, and each element this number."""
    source = view.graph.producer(layer, layer.inputs[position])
    try:
        value = constant(view.graph, source[0]) if source and source[0].type == "Const" else None
    except IRError:  # 5xx reports it
        return False
    return value is not None and bool((value == number).all())
