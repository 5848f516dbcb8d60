"""7xx: what is legal in a document, although a runtime does not do what the document says."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.divergences.conditions import NARROWED_BY_CPU
from ov_gather.divergences.cpu_plugin import as_seen
from ov_gather.divergences.register import DIVERGENCES
from ov_gather.ir.constants import check_payload, constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer
from ov_gather.ir.numbers import parse_digits
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.table import OPENVINO, OpKind
from ov_gather.plugin.base import explained
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import Fix, WriteWeights
from ov_gather.rules.indices import first_constant_index
from ov_gather.system.traversal import reachable

_KNOWN = {divergence.name: divergence for divergence in DIVERGENCES}
_SLICE = "slice_before_gather_elements"
_FETCHED = 1 << 20
"""Most bytes of data that are read from a URL to find values that OpenVINO replaces."""


@rule("OVG701", LayerView, Severity.WARNING)
def negative_constant_index(view: LayerView) -> Iterator[Violation]:
    """A constant index is negative, which the specification of the operation does not allow.

    ONNX counts such an index from the end of the axis. OpenVINO's CPU plugin does so only since a certain release, and writes
    zeros for Gather-1 and Gather-7. Write the index counted from the start, which means the same everywhere.
    """
    if not view.is_of_family:  # OVG601 reports those of others
        return
    index_rule = view.index_rule
    found = first_constant_index(view, lambda indices, size: (indices < index_rule.lowest_specified(size)) & (indices >= -size))
    if found:
        place, value, count, size = found
        specified = f"{view.operation.name} specifies {index_rule.specified}"
        message = f"{place} = {value} is negative ({count} such in all); {specified}"
        hint = f"write {value + size}; {index_rule.negative}"
        yield Violation.at(view.layer, message, hint, port=view.layer.inputs[index_rule.port], fix=_from_the_start(view))


def _from_the_start(view: LayerView) -> Fix | None:
    """Return the fix that adds the axis size to negative indices, unless the Const has other consumers, too."""
    port = view.index_rule.port
    source, indices, sizes = view.producer(port), view.constant(port), view.index_sizes
    if source is None or indices is None or sizes is None or sum(link[2] is source[0] for link in view.graph.links) != 1:
        return None
    import numpy as np

    size = np.array(sizes) if len(sizes) > 1 else sizes[0]
    mended = np.where((indices < 0) & (indices >= -size), indices + size, indices).astype(indices.dtype)
    offset, _ = check_payload(view.graph, source[0])
    is_safe = view.operation not in _KNOWN["zeros-for-negative-indices"].operations and _has_certain_data_shape(view)
    return Fix(WriteWeights(offset, mended.tobytes()), is_safe)


def _has_certain_data_shape(view: LayerView) -> bool:
    """Return True if OpenVINO reads the shape of data from the document rather than inferring it."""
    source = view.producer(0)
    return view.graph.tag == "net" and source is not None and source[0].is_leaf


@rule("OVG702", LayerView, Severity.NOTE)
def narrowed_by_cpu(view: LayerView) -> Iterator[Violation]:
    """The data has 64-bit elements, which OpenVINO's CPU plugin narrows to 32 bits before any operation reads them.

    Integers wrap around at 2^32, and f64 becomes f32. Results are exact only for values that fit in 32 bits.
    """
    data_type, source = view.input_types[0], view.producer(0)
    if data_type in NARROWED_BY_CPU and not (source and OPENVINO[source[0].type].kind is OpKind.SHAPE):  # sizes fit
        message = f"data is {data_type}, which the OpenVINO CPU plugin computes as {NARROWED_BY_CPU[data_type]}"
        hint = "results are exact only for values that 32 bits hold"
        yield Violation.at(view.layer, message, hint, port=view.layer.inputs[0])


@rule("OVG703", LayerView, Severity.NOTE)
def open_rank(view: LayerView) -> Iterator[Violation]:
    """The rank of an input is open (dynamic).

    OpenVINO's CPU plugin does not compile a model with inputs of open rank. Declare a rank; its dimensions may stay open. A
    port without dims may be a scalar, so that only what comes from a Parameter of open rank is reported.
    """
    for position, (given, shape) in enumerate(zip(view.operation.inputs, view.input_shapes, strict=True)):
        if shape.rank is None and _comes_from_open_rank(view, position):
            port = view.layer.inputs[position]
            message = f"the rank of {given.name} is open, which the OpenVINO CPU plugin does not take"
            yield Violation.at(view.layer, message, "declare a rank; its dimensions may stay open", port=port)


def _comes_from_open_rank(view: LayerView, position: int) -> bool:
    """Return True if a Parameter of open rank is computed with until this input, through ports without dims only."""
    source = view.producer(position)
    if source is None:
        return True  # a fragment, whose port declares an open rank

    def without_dims(layer: Layer) -> list[Layer]:
        before = (view.graph.producer(layer, port) for port in layer.inputs)
        return [found[0] for found in before if found and found[1].shape.rank is None]

    found = reachable([source[0]], without_dims, id)
    return any(layer.type == "Parameter" and _has_open_rank(layer) for layer in found)


def _has_open_rank(layer: Layer) -> bool:
    declared = layer.declared_shape
    return declared is not None and declared.rank is None


@rule("OVG704", LayerView, Severity.NOTE)
def rewritten_by_cpu(view: LayerView) -> Iterator[Violation]:
    """Constant data has values that OpenVINO's CPU plugin replaces: u32 from 2^31 on, or f32 denormals.

    The gather then returns other values than the file holds. If the .bin is at a URL, data of more than 1 MiB is not checked.
    """
    known = _KNOWN["rewritten-constants"]
    source, weights = view.producer(0), view.graph.weights
    if weights and weights.is_far and source and (parse_digits(source[0].attributes.get("size", "")) or 0) > _FETCHED:
        return
    try:
        data = view.constant(0) if known.applies(view, ()) else None
    except IRError:  # OVG5 reports it
        return
    if data is not None and (rewritten := int((as_seen(data, constant=True) != data).sum() - (data != data).sum())):
        yield Violation.at(view.layer, f"{rewritten} values of data are not kept: {known.why}", "", port=view.layer.inputs[0])


@rule("OVG705", LayerView, Severity.NOTE)
def refused_by_cpu(view: LayerView) -> Iterator[Violation]:
    """The data has elements that OpenVINO's CPU plugin does not gather, or not safely: strings, u2 or f4e2m1.

    The finding says what the plugin does. Gather these elements outside the model, or convert them first.
    """
    for name in ("no-strings", "unsafe-small-types"):
        known = _KNOWN[name]
        if known.concerns("openvino", "", view.operation.name) and known.applies(view, ()):
            yield Violation.at(view.layer, f"data is {view.input_types[0]}: {known.why}", "", port=view.layer.inputs[0])


@rule("OVG706", LayerView, Severity.WARNING)
def removed_slice(view: LayerView) -> Iterator[Violation]:
    """The data of GatherElements comes from a Slice that starts at the first element, which OpenVINO removes.

    GatherElements then reads the whole tensor: it accepts an index beyond the slice, and counts a negative index from the end
    of the whole tensor. If the sizes fit only after the Slice, OpenVINO refuses to compile the model. Let the Slice start at
    -2147483647, which also means the first element.
    """
    source = view.producer(0)
    if view.operation is not GATHER_ELEMENTS_6 or source is None or source[0].type != "Slice" or len(source[0].inputs) < 4:
        return
    layer = source[0]
    if _is_all(view, layer, 1, 0) and _is_all(view, layer, 3, 1):
        message = f"data comes from {layer}, which starts at 0 with steps of 1: OpenVINO removes it before GatherElements"
        yield Violation.at(
            view.layer,
            message,
            f"start at -2147483647, which is the same; {explained(_SLICE)}",
            port=view.layer.inputs[0],
        )


@rule("OVG707", LayerView, Severity.WARNING)
def empty_gather(view: LayerView) -> Iterator[Violation]:
    """A Gather with static shapes has empty data or empty indices.

    OpenVINO's CPU plugin divides by zero while it compiles the layer, which ends the process. It does not if one of the shapes
    is open, or both operands are constant. Remove the layer, or leave a dimension of an input open.
    """
    known = _KNOWN["dies-of-empty-gathers"]
    if known.concerns("openvino", "", view.operation.name) and known.applies(view, ()):
        position = 0 if 0 in view.input_shapes[0].sizes else 1
        port = view.layer.inputs[position]
        name, shape = view.operation.inputs[position].name, view.input_shapes[position]
        message = f"{name} of shape {shape} has no elements: {known.why}"
        hint = f"take the layer out, or leave a dimension of its inputs open; {explained(*known.reports)}"
        yield Violation.at(view.layer, message, hint, port=port)


def _is_all(view: LayerView, layer: Layer, position: int, number: int) -> bool:
    """Return True if an input of a layer is a constant whose elements all equal this number."""
    source = view.graph.producer(layer, layer.inputs[position])
    try:
        value = constant(view.graph, source[0]) if source and source[0].type == "Const" else None
    except IRError:  # OVG5 reports it
        return False
    return value is not None and bool((value == number).all())
