"""Nodes in a form that OpenVINO's front end does not know: what it ignores is found in the schemas of the installed `onnx`."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import onnx_ir

from ov_gather.ops.table import ONNX, OpKind, where
from ov_gather.plugin.front_end import IGNORED_ATTRIBUTES, IGNORED_INPUTS, NEWEST_OPSET

from .graphs import is_default
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
    if opset > NEWEST_OPSET:
        yield from _newer(node, opset)


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
    for name, attribute in newest.attributes.items():
        if name in known.attributes and name not in node.attributes:
            default = attribute.default_value
            if default != known.attributes[name].default_value:
                yield f"the default {name}={onnx.helper.get_attribute_value(default)} of {versions}"
    types = dict[str, None]()
    for position, value in enumerate(node.inputs):
        formal = known.inputs[min(position, len(known.inputs) - 1)] if known.inputs else None
        is_known = formal and (position < len(known.inputs) or formal.option == _VARIADIC)
        if value is None:
            continue
        if formal is None or not is_known:
            yield f"input {newest.inputs[position].name} of {versions}"
        elif value.dtype is not None and f"tensor({value.dtype.name.lower()})" not in formal.types and not moves(node):
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
