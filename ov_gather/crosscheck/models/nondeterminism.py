"""Results that specifications leave undetermined: random values, and of TopK the order and the choice among equal numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.converters.graphs import bodies_of
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.arrays import RUNS, varying
from ov_gather.graph.protocol import Node
from ov_gather.ir.model import Layer
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.ops.table import ONNX, OPENVINO, OpKind, where
from ov_gather.runtimes.base import Runtime
from ov_gather.system.traversal import reachable

_RANDOM = where(ONNX, lambda op: op.kind is OpKind.RANDOM)

Picked = Sequence["NDArray[Any] | None"]
"""The outputs of a TopK: numbers, and their indices along the axis; None if unknown."""


@dataclass(frozen=True, slots=True)
class Picks:
    """What one TopK leaves undetermined.

    Attributes:
        axis: the axis of the TopK.
        any_order: the results may be in any order.
        any_of_equal: any of several equal numbers may be picked, and equal ones may be swapped.
    """

    axis: int
    any_order: bool
    any_of_equal: bool

    def allow(self, scores: NDArray[Any], expected: Picked, found: Picked) -> bool:
        """Return True if `found` is permitted, given the `expected` outputs of another runtime for the same scores."""
        axis = self.axis
        if expected[1] is None or found[1] is None or expected[1].shape != found[1].shape:
            return False
        places = found[1].astype(np.int64)
        ordered = np.sort(places, axis)
        if not ((places >= 0) & (places < scores.shape[axis])).all() or not np.diff(ordered, axis=axis).all():
            return False
        numbers = np.take_along_axis(scores, places, axis)
        if found[0] is not None and not np.array_equal(found[0], numbers):
            return False
        if not self.any_of_equal:
            return self.any_order and np.array_equal(np.sort(expected[1], axis), ordered)
        others = np.take_along_axis(scores, expected[1].astype(np.int64), axis)
        return np.array_equal(*((np.sort(array, axis) for array in (others, numbers)) if self.any_order else (others, numbers)))


def onnx_picks(node: onnx_ir.Node) -> Picks | None:
    """Return what a node leaves undetermined, or None. ONNX picks the lowest index of equal numbers."""
    if node.op_type != "TopK" or node.domain or attribute(node, "sorted", 1):
        return None
    return Picks(attribute(node, "axis", -1), any_order=True, any_of_equal=False)


def picks_of(node: Node) -> Picks | None:
    """Return what a node of an ONNX model or an IR leaves undetermined, or None."""
    return ir_picks(node.handle) if isinstance(node.handle, Layer) else onnx_picks(node.handle)


def ir_picks(layer: Layer) -> Picks | None:
    """Return what a layer leaves undetermined; None if nothing is, or the results are sorted by index."""
    given = layer.attributes
    if layer.type != "TopK" or given.get("sort") not in ("none", "value"):
        return None
    found = Picks(int(given["axis"]), given["sort"] == "none", given.get("stable") != "true")
    return found if found.any_order or found.any_of_equal else None


def permitted_orders(
    model: onnx_ir.Model, inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any], converted: Mapping[str, NDArray[Any]]
) -> dict[str, onnx_ir.Node]:
    """Map the name of each value that depends on a permitted reordering to the first TopK that reorders.

    `converted` has values of the conversion, by name. Raises RefusedError, CrashedError.
    """
    found = []
    for node, picks in ((node, onnx_picks(node)) for node in model.graph):
        if picks is None:
            continue
        scores, *here = (None if value is None else converted.get(str(value.name)) for value in (node.inputs[0], *node.outputs))
        if scores is None or here[1] is None:
            continue
        expected = intermediates.values(model, list(node.outputs), inputs, runtime)
        if not np.array_equal(expected[1], here[1]) and picks.allow(scores, expected, here):
            found.append(node)
    return dependents(model, found)


def dependents(model: onnx_ir.Model, sources: Iterable[onnx_ir.Node]) -> dict[str, onnx_ir.Node]:
    """Map the name of each value that depends on one of these nodes to the first such node.

    A value in a body also makes the outputs of the node that owns the body (If, Loop, Scan) dependent.
    """
    owners: dict[object, onnx_ir.Node] = {body: node for node in model.graph.all_nodes() for _, body in bodies_of(node)}

    def followers(item: tuple[onnx_ir.Node, onnx_ir.Node]) -> list[tuple[onnx_ir.Node, onnx_ir.Node]]:
        node, source = item
        users = [user for value in node.outputs for user, _ in value.uses()]
        return [(user, source) for user in (*users, owners.get(node.graph)) if user]

    start = [(source, source) for source in sources][::-1]  # the last one is followed first
    found = reachable(start, followers, key=lambda item: item[0])
    return {str(value.name): source for node, source in found for value in node.outputs}


def random_nodes(model: onnx_ir.Model) -> Iterator[onnx_ir.Node]:
    """Return the nodes, also in bodies, whose outputs are random and thus differ between runtimes."""
    return filter(_is_random, model.graph.all_nodes())


def random_values(model: onnx_ir.Model, inputs: Mapping[str, NDArray[Any]], runtime: Runtime[Any]) -> dict[str, onnx_ir.Node]:
    """Map the name of each output that depends on a random node, and differs in two runs, to the first such node.

    The runs share a session, as a random node with a seed begins anew in each. Raises RefusedError, CrashedError.
    """
    behind = dependents(model, random_nodes(model))
    if not behind:
        return {}
    names = [str(value.name) for value in model.graph.outputs]
    with intermediates.activated(model, runtime):
        runs = [dict(zip(names, runtime.execute(list(inputs.values())), strict=True)) for _ in range(RUNS)]
    return {name: node for name, node in behind.items() if name in varying(runs)}


def is_random(node: Node) -> bool:
    """Return True if the outputs of a node of an ONNX model or an IR are random; bodies are ignored."""
    return OPENVINO[node.type].kind is OpKind.RANDOM if isinstance(node.handle, Layer) else _is_random(node.handle)


def _is_random(node: onnx_ir.Node) -> bool:
    return node.domain == "" and (node.op_type in _RANDOM or (node.op_type == "Dropout" and _trains(node)))


def _trains(node: onnx_ir.Node) -> bool:
    """Return True if a Dropout may drop elements: its `training_mode` is given and not constant False."""
    mode = node.inputs[2] if len(node.inputs) > 2 else None
    if mode is None:
        return False
    tensor = onnx_ir.convenience.get_const_tensor(mode)
    return tensor is None or bool(tensor.numpy().any())
