"""Legalization of ONNX models: rewrites of nodes that OpenVINO refuses, computes wrongly or computes slowly."""

from __future__ import annotations

import onnx_ir

from .passes.compress import compress
from .passes.constant_indices import constant_indices
from .passes.copies import copies
from .passes.early_casts import early_casts
from .passes.empty_constants import empty_constants
from .passes.empty_operands import empty_flattened, empty_gathers, empty_scatters, tuples_of_nothing
from .passes.equal_slices import equal_slices
from .passes.exact_integers import exact_integers
from .passes.fixed_ranks import fixed_ranks
from .passes.fold_arithmetic import fold_arithmetic
from .passes.fold_broadcast import fold_broadcast
from .passes.fold_constants import fold_constants
from .passes.idle_loops import idle_loops
from .passes.index_checks import index_checks
from .passes.inline_functions import inline_functions
from .passes.loop_states import loop_states
from .passes.no_sizes import no_sizes
from .passes.one_hot import one_hot
from .passes.quantised_operators import quantised_operators
from .passes.reduce_l1 import reduce_l1
from .passes.reverse_sequence import reverse_sequence
from .passes.rewriter import Rewrite, Rewriter
from .passes.slice_data import keep_slices, slice_data
from .passes.softmax import softmax
from .passes.standard_domain import standard_domain
from .passes.stored_constants import stored_constants
from .passes.token_positions import token_positions
from .passes.uneven_splits import uneven_splits
from .ranges import Ranges
from .shape_inference import infer_shapes

__all__ = ["TARGETS", "Rewrite", "legalize"]

# "stock": operations of OpenVINO only. "extension": our operations, which accept what ONNX allows and raise out of bounds.
TARGETS = ("stock", "extension")


def legalize(model: onnx_ir.Model, *, target: str = "stock", assume_in_bounds: bool = False) -> list[Rewrite]:
    """Rewrite gathers and related operators in place, bodies included, so that OpenVINO computes what ONNX specifies.

    The model's results stay the same; its functions are inlined. GatherElements with broadcast indices becomes Gather or
    GatherND, data is sliced to smaller indices, constant negative indices become non-negative, a Gather without elements
    becomes an empty tensor, a scatter without updates becomes its data, and constants without elements are computed. Compress
    becomes a Gather, a Softmax of several axes one of rows, and a Split whose last part may be smaller gets sizes. A Loop
    without iterations becomes its states. Where OpenVINO would change values, OneHot becomes a Gather and, for "extension",
    ReverseSequence a GatherND, and the indices of other operators are checked.

    Args:
        model: of any opset; added nodes have the same opset.
        target: "stock" for OpenVINO's own operations; "extension" for ours, which need no slices.
        assume_in_bounds: fold broadcasts for "stock" even if an index may be out of bounds: ONNX's GatherElements raises then,
            OpenVINO's Gather and GatherND do not.

    Returns:
        The rewrites that were made, and those that were not, with the reason, per node.

    Raises:
        ConversionError: a constant index or an axis is out of bounds; the message names node, position and valid range.
        ValueError: the target is unknown.
    """
    if target not in TARGETS:
        raise ValueError(f"target '{target}' is unknown: {' or '.join(TARGETS)}")
    inlined = inline_functions(model)
    standard_domain(model)
    outputs = [(value.type, value.shape) for value in model.graph.outputs]
    infer_shapes(model)
    rewriter = Rewriter(model, Ranges(model))
    quantised_operators(rewriter)
    fixed_ranks(rewriter)
    token_positions(rewriter)
    index_checks(rewriter, stock=target == "stock")
    no_sizes(rewriter)
    idle_loops(rewriter)
    fold_arithmetic(rewriter)
    exact_integers(rewriter)
    early_casts(rewriter)
    reduce_l1(rewriter)
    softmax(rewriter)
    uneven_splits(rewriter)
    compress(rewriter)
    one_hot(rewriter)
    if target == "extension":
        reverse_sequence(rewriter)
    fold_broadcast(rewriter, unchecked=assume_in_bounds or target == "extension", stock=target == "stock")
    empty_scatters(rewriter)
    empty_flattened(rewriter)
    tuples_of_nothing(rewriter)
    constant_indices(rewriter)
    if target == "stock":
        fold_constants(rewriter)
        empty_gathers(rewriter)
        slice_data(rewriter)
        keep_slices(rewriter)
    empty_constants(rewriter)
    stored_constants(rewriter)
    equal_slices(rewriter)
    loop_states(rewriter)
    copies(rewriter)
    for value, (given, shape) in zip(model.graph.outputs, outputs, strict=True):
        value.type, value.shape = given, shape
    return [*inlined, *rewriter.rewrites]
