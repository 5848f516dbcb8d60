"""A constant index that repeats off the axis becomes a smaller constant and a Broadcast.

before: GatherElements-6(data, Constant [5, 64])
after:  GatherElements-6(data, Broadcast(Constant [5, 1] to [5, 64]))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import axis_of, constant, nodes_of
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops


def shrink_constants(model: Model, tracker: Tracker) -> None:
    """Rewrite without an extension. A later pass fuses the Broadcast, or OpenVINO folds it at compile time."""
    made: dict[tuple[int, int], Node | None] = {}
    for gather in nodes_of(model, "GatherElements-6"):
        index, axis = gather.input_value(1), axis_of(gather)
        elements = constant(index)
        if elements is None or axis is None or tracker.leaves(gather):
            continue
        key = index.get_node().get_instance_id(), axis  # layers often share one constant
        if key not in made:
            made[key] = _broadcast(elements, _shrunk(elements, axis), index)
        if broadcast := made[key]:
            gather.input(1).replace_source_output(broadcast.output(0))
            tracker.done(gather, f"constant of {broadcast.get_input_partial_shape(0)} and Broadcast", gather, rounds=False)


def _shrunk(elements: NDArray[Any], axis: int) -> NDArray[Any]:
    """Drop dimensions off the axis along which elements repeat. Empty constants stay: OpenVINO cannot fold their Broadcast."""
    for i, size in enumerate(elements.shape):
        first = elements.take([0], i) if size > 1 and i != axis and elements.size else elements
        if (first == elements).all():
            elements = first
    return elements


def _broadcast(elements: NDArray[Any], smaller: NDArray[Any], index: Output) -> Node | None:
    if smaller.shape == elements.shape:
        return None
    constant = ops.constant(smaller, name=index.get_node().get_friendly_name())
    return ops.broadcast(constant, ops.constant(np.array(elements.shape)))
