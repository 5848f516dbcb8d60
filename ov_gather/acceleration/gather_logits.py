"""A few elements that are gathered from LogSoftmax are gathered from what it reads, and only for those its last steps are done.

LogSoftmax(x) is x - max(x) - tracker(sum(exp(x - max(x)))), in this order also in the CPU plugin, which so takes it apart. Both
differences as large as x are only written to be read here and there.
"""

from __future__ import annotations

import numpy as np

from ov_gather.acceleration.changes import Tracker, too_small
from ov_gather.acceleration.graph import (
    axis_of,
    dims,
    gathers_elements,
    has_same_shape,
    is_computed_early,
    like,
    nodes_of,
    readers,
    take_place,
)
from ov_gather.acceleration.quantised import is_low_precision, is_quantised
from ov_gather.acceleration.rounding import IN_WHOLE, goes_out
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops


def gather_logits(model: Model, tracker: Tracker) -> None:
    """Gather before LogSoftmax where all that read it gather at most half of it, along its axis."""
    quantised = is_quantised(model)
    for softmax in nodes_of(model, "LogSoftmax-5"):
        gathers = readers(softmax)
        logits, axis = softmax.input_value(0), softmax.get_attributes()["axis"]
        if too_small(logits) or is_computed_early([logits]) or not all(_takes_a_part(gather, softmax) for gather in gathers):
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
            take_place(gather, ops.subtract(_alone(taken, maximum), total))
            tracker.done(gather, "before LogSoftmax", taken, rounds=True)


def _takes_a_part(gather: Node, softmax: Node) -> bool:
    """Tell whether a node gathers at most half of LogSoftmax along its axis, and no arithmetic follows.

    The plugin would fuse such arithmetic with ours, and in half precision round less often then.
    """
    if not gathers_elements(gather):
        return False
    have, want, axis = dims(softmax.output(0)), dims(gather.input_value(1)), axis_of(gather)
    if have is None or want is None or axis is None or axis != axis_of(softmax):
        return False
    is_part = 0 < 2 * want[axis].get_max_length() <= have[axis].get_min_length()  # -1 is no maximum
    return has_same_shape(gather) and is_part and goes_out(gather, IN_WHOLE)


def _alone(taken: Node, maximum: Node) -> Output:
    """Return the difference, in a rank of its own: the plugin would fuse it with the next one."""
    whole = ops.constant(np.array([0]))
    return ops.squeeze(ops.subtract(ops.unsqueeze(taken, whole), ops.unsqueeze(maximum, whole)), whole).output(0)
