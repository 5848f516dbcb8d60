"""ScatterNDUpdate whose last coordinates cover whole axes becomes one by shorter tuples, each for a slice.

Exporters lower an assignment through a mask to one tuple per element.

before: ScatterNDUpdate(data [8, 4], Concat(Broadcast(i [n, 1] to [n, 4]), Broadcast([0, 1, 2, 3] to [n, 4])), updates)
after:  ScatterNDUpdate(data [8, 4], Concat(Broadcast(i [n])), updates)
"""

from __future__ import annotations

from math import prod

import numpy as np

from ov_gather.acceleration.axis_sizes import takes_tuples, tuple_length
from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.fold_constants import value_before_compiling
from ov_gather.acceleration.graph import constant, copied, dims, is_constant_foldable, is_one, is_ours, is_scatter, viewed, walk
from ov_gather.acceleration.operators import IN_ORDER, is_concat, is_numpy_broadcast
from ov_gather.extension.python_api import Dimension, Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops


def scatter_slices(model: Model, tracker: Tracker) -> None:
    """Rewrite if a Broadcast expands each coordinate to the shape of the others."""
    for scatter in [node for _, node in walk(model) if _is_stock(node) and not tracker.leaves(node)]:
        coordinates = _coordinates(scatter)
        if not coordinates:
            continue
        whole = _whole_axes(scatter, coordinates)
        if not 0 < whole < len(coordinates) or not _are_same_for_slices(coordinates[:-whole], whole):
            continue
        shorter = [_of_slices(broadcast, whole) for broadcast in coordinates[:-whole]]
        data, _, updates = scatter.input_values()
        other = copied(scatter, [data, ops.concat(shorter, -1).output(0), updates])
        tracker.replace(scatter, other, rounds=False)


def _is_stock(node: Node) -> bool:
    return is_scatter(node) and takes_tuples(node) and not is_ours(node)


def _coordinates(scatter: Node) -> list[Node]:
    """Return the Broadcasts that compute the coordinates of the tuples; empty if other operations do."""
    tuples = scatter.input_value(1)
    rank, concat = tuples.get_partial_shape().rank, tuples.get_node()
    if not is_concat(concat) or rank.is_dynamic or is_constant_foldable([tuples]):
        return []
    parts, last = [value.get_node() for value in concat.input_values()], rank.get_length() - 1
    if concat.get_attributes()["axis"] % (last + 1) != last or len(parts) != tuple_length(scatter):
        return []
    found = [part.input_value(0).get_node() for part in parts if part.get_type_name() == "Unsqueeze"]
    is_known = len(found) == len(parts) and all(is_one((dims(part.output(0)) or [])[-1]) for part in parts)
    return found if is_known and all(_is_broadcast(node, last) for node in found) else []


def _is_broadcast(node: Node, rank: int) -> bool:
    if not is_numpy_broadcast(node) or dims(node.input_value(1)) != [Dimension(rank)]:
        return False
    return len(dims(node.output(0)) or []) == rank


def _whole_axes(scatter: Node, coordinates: list[Node]) -> int:
    """Return the number of trailing coordinates that count 0, 1, ... to the end of their axis, each along its own dimension."""
    sizes = dims(scatter.input_value(0))
    if sizes is None:
        return 0
    for count, broadcast in enumerate(reversed(coordinates)):
        size, wanted = sizes[len(coordinates) - 1 - count], (dims(broadcast.output(0)) or [])
        if size.is_dynamic or count >= len(wanted) or wanted[len(wanted) - 1 - count] != size:
            return count
        given = broadcast.input_value(0)
        shape = given.get_partial_shape()
        along = [size.get_length(), *(1 for _ in range(count))]
        if shape.is_dynamic or shape.to_shape()[-count - 1 :] != along or prod(shape.to_shape()) != along[0]:
            return count
        if not _counts_up(given):
            return count
    return len(coordinates)


def _counts_up(value: Output) -> bool:
    """Return True if the elements of a value of static shape are 0, 1, 2, ..."""
    value = viewed(value, IN_ORDER | {"Convert"})
    node = value.get_node()
    if node.get_type_name() == "Range":  # its end may be a computed size; the static output shape has it
        start, step = (constant(node.input_value(port)) for port in (0, 2))
        return start is not None and step is not None and (start.item(), step.item()) == (0, 1)
    known = value_before_compiling(value) if is_constant_foldable([value]) else None
    return known is not None and np.array_equal(known.ravel(), np.arange(known.size))


def _are_same_for_slices(coordinates: list[Node], whole: int) -> bool:
    """Return True if no coordinate varies along the last `whole` dimensions."""
    shapes = [(dims(node.input_value(0)), dims(node.output(0))) for node in coordinates]
    return all(
        given is not None and wanted is not None and len(given) == len(wanted) > whole and all(map(is_one, given[-whole:]))
        for given, wanted in shapes
    )


def _of_slices(broadcast: Node, whole: int) -> Output:
    """Return a coordinate with one element per slice."""
    given, shape = broadcast.input_values()[:2]
    rank = len(dims(given) or ())
    start, stop, step = (ops.constant(np.array([place])) for place in (0, rank - whole, 1))
    alone = ops.squeeze(given, ops.constant(np.arange(rank - whole, rank)))
    mode = broadcast.get_attributes()["mode"].upper()
    slices = ops.broadcast(alone, ops.slice(shape, start, stop, step), broadcast_spec=mode)
    return ops.unsqueeze(slices, ops.constant(np.array([-1]))).output(0)
