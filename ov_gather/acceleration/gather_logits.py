"""GatherElements of few elements of LogSoftmax, rewritten to gather the logits and subtract from the gathered elements only.

before: GatherElements(LogSoftmax(x), i)
after:  GatherElements(x, i) - max(x) - log(sum(exp(x - max(x))))

The CPU plugin computes LogSoftmax in the same order. The two differences in the shape of x are no longer written to memory.
"""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.costs import too_small
from ov_gather.acceleration.graph import (
    axis_of,
    constant,
    descendants,
    dims,
    gathers_elements,
    has_same_shape,
    is_constant_foldable,
    like,
    nodes_of,
    operation,
    readers,
    replace_node,
)
from ov_gather.acceleration.quantised import is_low_precision, is_quantised
from ov_gather.acceleration.rounding import IN_WHOLE
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops
from ov_gather.ops.table import ENDS

_IN_CACHE = 64
"""Below this multiple of SMALL elements, logits stay in caches, and splitting LogSoftmax does not pay."""


def gather_logits(model: Model, tracker: Tracker) -> None:
    """Rewrite if every reader of LogSoftmax is a GatherElements along its axis of at most half of its elements."""
    quantised = is_quantised(model)
    for softmax in nodes_of(model, "LogSoftmax-5"):
        gathers = readers(softmax)
        logits, axis = softmax.input_value(0), softmax.get_attributes()["axis"]
        if is_constant_foldable([logits]) or any(map(tracker.leaves, gathers)):
            continue
        reasons = [reason for gather in gathers if (reason := _why_not(gather, softmax))]
        if too_small(logits, _IN_CACHE):
            reasons.append("too small to gain")
        if reasons:
            for gather in gathers:
                tracker.kept(gather, f"LogSoftmax stays before it: {reasons[0]}", lasts=True)
            continue
        if quantised and is_low_precision(logits):
            for gather in gathers:
                tracker.kept(gather, "OpenVINO would compute a part of LogSoftmax in 8 bits")
            continue
        along = ops.constant(np.array([axis]))
        maximum = ops.reduce_max(logits, along, keep_dims=True)
        total = ops.log(ops.reduce_sum(ops.exp(ops.subtract(logits, maximum)), along, keep_dims=True))
        for gather in gathers:
            taken = like(gather, logits)
            replace_node(gather, ops.subtract(_alone(taken, maximum), total))
            tracker.done(gather, "before LogSoftmax", taken, rounds=True)


def _why_not(gather: Node, softmax: Node) -> str:
    """Return the reason why a reader of LogSoftmax prevents the rewrite; empty if it does not."""
    if not gathers_elements(gather):
        return f"{operation(gather)} reads it, too"
    have, want, axis = dims(softmax.output(0)), dims(gather.input_value(1)), axis_of(gather)
    if have is None or want is None or axis is None or axis != axis_of(softmax):
        return "it is gathered along another axis, or a rank is open"
    if not 0 < 2 * want[axis].get_max_length() <= have[axis].get_min_length():  # -1: no maximum
        return "it may not be less than half that is gathered"
    if not has_same_shape(gather):
        return "whether indices have its shape off the axis is not known"
    return "" if _keeps_bits(gather) else "the arithmetic behind it may be fused with its last steps"


def _keeps_bits(gather: Node) -> bool:
    """Return True if the gathered elements reach only outputs of the model or sums, negated or masked at most.

    The plugin would fuse other arithmetic with our subtractions. It also fuses a negation, which rounds nothing.
    """
    sums = ("ReduceMean", "ReduceSum")
    kept = (*sums, "Negative", "Select", *IN_WHOLE, *ENDS)
    nodes = descendants(gather, lambda node: node.get_type_name() not in sums)
    return all(node.get_type_name() in kept or _negates(node) for node in nodes)


def _negates(node: Node) -> bool:
    """Return True if a node multiplies by -1, as OpenVINO's front ends express a negation."""
    factors = [constant(value) for value in node.input_values()] if node.get_type_name() == "Multiply" else []
    return any(factor is not None and factor.size == 1 and factor.item() == -1 for factor in factors)


def _alone(taken: Node, maximum: Node) -> Output:
    """Return `taken - maximum`, computed in another rank so that the plugin does not fuse it with the next subtraction."""
    whole = ops.constant(np.array([0]))
    return ops.squeeze(ops.subtract(ops.unsqueeze(taken, whole), ops.unsqueeze(maximum, whole)), whole).output(0)
