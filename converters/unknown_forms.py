"""Nodes in a form that OpenVINO's front end does not know: what it ignores is found in the schemas of the installed `onnx`."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import onnx_ir

from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ops.table import ONNX, OpKind, where
from ov_gather.plugin.front_end import IGNORED_ATTRIBUTES, IGNORED_INPUTS, NEWEST_OPSET

from .graphs import constant_of, is_default, same
from .moves import moves

_CASTS = where(ONNX, lambda op: op.kind is OpKind.CAST)
_FLOAT8 = (
    *(onnx_ir.DataType.FLOAT8E4M3FN, onnx_ir.DataType.FLOAT8E4M3FNUZ),
    *(onnx_ir.DataType.FLOAT8E5M2, onnx_ir.DataType.FLOAT8E5M2FNUZ),
)

_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic


def unknown_forms(model: onnx_ir.Model) -> Iterator[tuple[onnx_ir.Node, str]]:
    """Yield the nodes that the front end understands in part, each with the part that it ignores."""
    opset = model.opset_imports.get("", 0)
    for node in model.graph.all_nodes():
        if node.domain == "":
            yield from ((node, f"OpenVINO's front end ignores {what}") for what in _ignored(node, opset))


def _ignored(node: onnx_ir.Node, opset: int) -> Iterator[str]:
    """Yield what the front end ignores of a node; nothing for an operator that it does not know at all, and refuses."""
    for name, harmless in IGNORED_ATTRIBUTES.get(node.op_type, {}).items():
        if (given := node.attributes.get(name)) is not None and given.value != harmless:
            yield f"{name}={given.value} of {node.op_type}"
    for position, name in IGNORED_INPUTS.get(node.op_type, {}).items():
        if _input(node, position) is not None:
            yield f"input {name} of {node.op_type}"
    if is_default(node, _CASTS) and node.outputs[0].dtype in _FLOAT8:
        saturate = node.attributes.get("saturate")
        if saturate is None or saturate.value:
            yield f"saturate=1 of {node.op_type}: numbers beyond the range become infinite, or NaN"
    if is_default(node, _CASTS) and node.outputs[0].dtype is onnx_ir.DataType.FLOAT8E8M0:
        yield f"round_mode of {node.op_type}: it rounds to the nearest power of two"
    if is_default(node, _CASTS) and node.outputs[0].dtype is onnx_ir.DataType.FLOAT4E2M1:
        yield f"NaN of {node.op_type}: it becomes the greatest number"
    if node.op_type == "Attention" and _may_be_shifted(node):
        yield "past keys of Attention with is_causal=1: where query and key have other lengths, it masks other keys"
    if node.op_type == "Resize" and _may_be_fractional(node):
        yield "the fraction of an output size, by which align_corners of Resize divides"
    if node.op_type == "Shrink" and "bias" in node.attributes and not _is_of_fractions(node):
        bias = node.attributes["bias"].as_float()
        if bias % 1:
            yield f"the fraction of bias={bias:g} of Shrink, for integers"
    if opset > NEWEST_OPSET:
        yield from _newer(node, opset)


def _may_be_shifted(node: onnx_ir.Node) -> bool:
    """Return True for a causal Attention with past keys whose query and key may have different lengths."""
    if not attribute(node, "is_causal", 0) or _input(node, 4) is None:
        return False
    query, key = (None if value is None else value.shape for value in node.inputs[:2])
    return query is None or key is None or not same(query.dims[-2], key.dims[-2])


def _may_be_fractional(node: onnx_ir.Node) -> bool:
    """Return True for a Resize by scales with align_corners, if a scaled size may be no integer."""
    mode, scales, data = node.attributes.get("coordinate_transformation_mode"), _input(node, 2), node.inputs[0]
    if mode is None or mode.value != "align_corners" or scales is None:
        return False
    tensor = constant_of(scales)
    if tensor is None or data is None or data.shape is None or len(data.shape) != tensor.size:
        return tensor is None or tensor.size > 0
    pairs = zip(data.shape, tensor.numpy(), strict=True)
    return any(scale != round(scale) if not isinstance(dim, int) else dim * scale % 1 != 0 for dim, scale in pairs)


def _is_of_fractions(node: onnx_ir.Node) -> bool:
    data = node.inputs[0]
    return data is not None and data.dtype is not None and data.dtype.is_floating_point()


def _newer(node: onnx_ir.Node, opset: int) -> Iterator[str]:
    """Yield what a node has of the newest version of its operator that the last version known to the front end lacks."""
    try:
        newest, known = (onnx.defs.get_schema(node.op_type, one) for one in (opset, NEWEST_OPSET))
    except onnx.defs.SchemaError:  # an operator that is new, or no longer there
        return
    if newest.since_version == known.since_version:
        return
    version, instead = f"{node.op_type}-{newest.since_version}", f"it takes it for {node.op_type}-{known.since_version}"
    versions = f"{version}: {instead}"
    for name, given in node.attributes.items():
        if name not in known.attributes and name in newest.attributes and not _is_default_of(given, newest.attributes[name]):
            yield f"{name}={given.value} of {versions}"
    for name, formal in newest.attributes.items():
        if name in known.attributes and name not in node.attributes:
            default = formal.default_value
            if default != known.attributes[name].default_value:
                yield f"the default {name}={onnx.helper.get_attribute_value(default)} of {versions}"
    types = dict[str, None]()
    for position, value in enumerate(node.inputs):
        taken = known.inputs[min(position, len(known.inputs) - 1)] if known.inputs else None
        is_known = taken and (position < len(known.inputs) or taken.option == _VARIADIC)
        if value is None:
            continue
        if taken is None or not is_known:
            yield f"input {newest.inputs[position].name} of {versions}"
        elif value.dtype is not None and f"tensor({value.dtype.name.lower()})" not in taken.types and not moves(node):
            types[value.dtype.name.lower()] = None
    yield from (f"what is new in {version} for {name}: {instead}" for name in types)


def _is_default_of(given: onnx_ir.Attr, formal: onnx.defs.OpSchema.Attribute) -> bool:
    if not formal.default_value.name:
        return False
    default = onnx.helper.get_attribute_value(formal.default_value)
    is_same: bool = given.value == (default.decode() if isinstance(default, bytes) else default)
    return is_same


def _input(node: onnx_ir.Node, position: int) -> onnx_ir.Value | None:
    return node.inputs[position] if position < len(node.inputs) else None
