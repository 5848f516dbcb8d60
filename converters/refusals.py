"""Checks for models that would crash or hang OpenVINO's CPU plugin, or whose strings it would corrupt."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir

from ov_gather.ops.index_table import ONNX_INDICES
from ov_gather.ops.onnx_nodes import is_branching
from ov_gather.ops.table import ONNX, Trait, where
from ov_gather.runtimes.base import NESTED_IFS

from .errors import ConversionError, describe, refused
from .graphs import VIEWS, bodies_of, constant_of, nodes_of, viewed

_ELEMENTS = 2**31
# In other operators the plugin copies strings as bytes: results are wrong, or memory is freed twice. Most operators that
# compute with strings have no conversion in the front end, which reports them.
_MOVES_STRINGS = where(ONNX, lambda op: Trait.STRINGS in op.traits)

_RECURRENT = tuple(name for name, rows in ONNX_INDICES.items() if any(row.axis == "layout" for row in rows))
"""Recurrent layers, which have lengths of sequences."""


def refuse_fatal(model: onnx_ir.Model) -> None:
    """Raise ConversionError for a node or output that would crash OpenVINO's CPU plugin, or that it compiles for no input."""
    for node in model.graph.all_nodes():
        values = [value for value in (*node.inputs, *node.outputs) if value is not None and _is_string(value)]
        if values and node.domain == "" and node.op_type not in _MOVES_STRINGS:
            moving = ", ".join(sorted(_MOVES_STRINGS - {"Constant"}))
            instead = "; target extension reverses them" if node.op_type == "ReverseSequence" else ""
            raise refused(
                "strings-copied-as-bytes",
                f"{describe(node)}: OpenVINO's CPU plugin copies strings as bytes in {node.op_type}, which ends the process; "
                f"it moves them in {moving}{instead}",
            )
    there = {value: f"the input '{value.name}'" for value in model.graph.inputs}
    for output in filter(_is_string, model.graph.outputs):
        values = _same_strings(output)
        if taken := [there[value] for value in values if value in there]:
            raise refused(
                "strings-freed-twice",
                f"output '{output.name}': OpenVINO's CPU plugin frees strings twice where an output is an input, or another "
                f"output, as it is; leave this output out, and use {taken[0]}",
            )
        there |= dict.fromkeys(values, f"the output '{output.name}'")
    for node in nodes_of(model, "Unique"):
        if 0 in _dims(node):
            message = f"{describe(node)}: OpenVINO's CPU plugin dies of Unique of a tensor without elements"
            raise refused("unique-of-nothing", message)
    for node in nodes_of(model, *_RECURRENT):
        if 0 in _dims(node)[:2]:
            raise refused(
                "recurrent-layer-of-nothing",
                f"{describe(node)}: OpenVINO compiles no {node.op_type} of no sequences, or of no steps; leave it out, and use "
                "its initial states instead of the last ones",
            )


def _dims(node: onnx_ir.Node) -> Sequence[int | onnx_ir.SymbolicDim]:
    """Return the sizes of the first input; none if its rank is unknown."""
    data = node.inputs[0]
    return () if data is None or data.shape is None else data.shape.dims


def refuse_sequences(model: onnx_ir.Model) -> None:
    """Raise ConversionError for an input or output that is a sequence of tensors, or an optional one."""
    for kind, values in (("input", model.graph.inputs), ("output", model.graph.outputs)):
        for value in values:
            if isinstance(value.type, onnx_ir.SequenceType | onnx_ir.OptionalType):
                what = "a sequence of tensors" if isinstance(value.type, onnx_ir.SequenceType) else "optional"
                raise ConversionError(f"{kind} '{value.name}' is {what}: OpenVINO has no such {kind}s, use tensors")


def open_ranks(model: onnx_ir.Model) -> list[str]:
    """Return a sentence for each output of an If whose rank is open, as it is in a branch, or differs between them."""
    found = []
    for node in nodes_of(model, "If"):
        ends = [body.outputs for _, body in bodies_of(node)]
        for output, *values in zip(node.outputs, *ends, strict=False):
            ranks = ["unknown" if value.shape is None else str(value.shape.rank()) for value in values]
            if output.shape is None and (len(set(ranks)) > 1 or "unknown" in ranks):
                found.append(
                    f"{describe(node)}: the rank of its output '{output.name}' is open, as those of its branches are "
                    f"{' and '.join(ranks)}; let both return the same number of dimensions, by an Unsqueeze or a Reshape"
                )
    return found


def _same_strings(output: onnx_ir.Value) -> list[onnx_ir.Value]:
    """Return the values that OpenVINO may return as an output: before an Identity, it drops nodes that keep the shape, too."""
    source = viewed(output)
    before = source if source is output else viewed(source, (*VIEWS, "Concat"))
    if before.shape is None or source.shape is None:
        return [source, before]
    is_other = len(before.shape) != len(source.shape) or any(
        isinstance(one, int) and isinstance(other, int) and one != other
        for one, other in zip(before.shape, source.shape, strict=True)
    )
    return [source] if is_other else [source, before]


def refuse_nested(model: onnx_ir.Model) -> None:
    """Raise ConversionError if Ifs are nested more deeply than OpenVINO compiles within minutes."""
    left = [(model.graph, 0)]
    while left:
        graph, depth = left.pop()
        for node in graph:
            inside = depth + is_branching(node)
            if inside > NESTED_IFS:
                raise refused(
                    "nested-ifs",
                    f"{describe(node)}: more than {NESTED_IFS} If are nested, "
                    "and OpenVINO takes twice as long to compile for each more",
                )
            left += [(body, inside) for _, body in bodies_of(node)]


def refuse_endless(model: onnx_ir.Model) -> None:
    """Raise ConversionError for a Range by 0, or a constant one of 2^31 elements or more; shape inference would hang."""
    for node in nodes_of(model, "Range"):
        tensors = [None if value is None else constant_of(value) for value in node.inputs]
        if tensors[-1] is not None and not tensors[-1].numpy().any():
            raise ConversionError(f"{describe(node)}: its step is 0, for which ONNX does not define a Range: use another step")
        if len(tensors) != 3 or None in tensors:
            continue
        start, limit, delta = (tensor.numpy().astype(object).item() for tensor in tensors if tensor is not None)
        count = (limit - start) / delta if delta else 0
        if not count < _ELEMENTS:
            message = f"{describe(node)}: {count:.0f} elements, but OpenVINO has tensors of fewer than 2^31"
            raise refused("range-of-2^31", message)


def _is_string(value: onnx_ir.Value) -> bool:
    kind = value.type
    while isinstance(kind, onnx_ir.SequenceType | onnx_ir.OptionalType):
        kind = kind.elem_type
    return kind is not None and kind.dtype is onnx_ir.DataType.STRING
