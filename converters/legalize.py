"""ONNX to ONNX: what OpenVINO's gathers would refuse, get wrong or do slowly becomes what they do as ONNX means it."""

from __future__ import annotations

import onnx_ir

from .passes.compress import compress
from .passes.constant_indices import constant_indices
from .passes.copies import copies
from .passes.empty_constants import empty_constants
from .passes.empty_gathers import empty_gathers
from .passes.empty_ranges import empty_ranges
from .passes.empty_scatters import empty_scatters
from .passes.exact_integers import exact_integers
from .passes.fold_arithmetic import fold_arithmetic
from .passes.fold_broadcast import fold_broadcast
from .passes.fold_constants import fold_constants
from .passes.inline_functions import inline_functions
from .passes.keep_slices import keep_slices
from .passes.loop_states import loop_states
from .passes.one_hot import one_hot
from .passes.reverse_sequence import reverse_sequence
from .passes.rewriter import Rewrite, Rewriter
from .passes.slice_data import slice_data
from .ranges import Ranges
from .shape_inference import infer_shapes

__all__ = ["TARGETS", "Rewrite", "legalize"]

# Only stock operations, or those of our extension, which take what ONNX allows and raise out of bounds.
TARGETS = ("stock", "extension")


def legalize(model: onnx_ir.Model, *, target: str = "stock", assume_in_bounds: bool = False) -> list[Rewrite]:
    """Rewrite the gathers of a model, and operators near them, in place, those in bodies too; its functions are inlined.

    The result computes the same: GatherElements with broadcast indices becomes Gather or GatherND, data is sliced to smaller
    indices, constant negative indices become positive, a Gather of nothing becomes an empty tensor, a scatter of nothing
    its data, and constants without elements are computed. Compress, and OneHot and ReverseSequence where OpenVINO would change
    values, become gathers.

    Args:
        model: of any opset; the nodes that are added are of that opset.
        target: "stock" for OpenVINO's own operations; "extension" for ours, which need no slices.
        assume_in_bounds: fold broadcasts for "stock" even where an index may be out of bounds, which ONNX's GatherElements
            refuses but OpenVINO's Gather and GatherND do not.

    Returns:
        What was done, and what was left and why, node by node.

    Raises:
        ConversionError: a constant index is out of bounds, or an axis is; the message names node, position and valid range.
        ValueError: the target is unknown.
    """
    if target not in TARGETS:
        raise ValueError(f"target '{target}' is unknown: {' or '.join(TARGETS)}")
    inlined = inline_functions(model)
    outputs = [(value.type, value.shape) for value in model.graph.outputs]
    infer_shapes(model)
    rewriter = Rewriter(model, Ranges(model))
    fold_arithmetic(rewriter)
    exact_integers(rewriter)
    empty_ranges(rewriter)
    compress(rewriter)
    one_hot(rewriter)
    if target == "extension":
        reverse_sequence(rewriter)
    fold_broadcast(rewriter, unchecked=assume_in_bounds or target == "extension", stock=target == "stock")
    empty_scatters(rewriter)
    constant_indices(rewriter)
    if target == "stock":
        fold_constants(rewriter)
        empty_gathers(rewriter)
        slice_data(rewriter)
        keep_slices(rewriter)
    empty_constants(rewriter)
    loop_states(rewriter)
    copies(rewriter)
    for value, (given, shape) in zip(model.graph.outputs, outputs, strict=True):
        value.type, value.shape = given, shape
    return [*inlined, *rewriter.rewrites]
