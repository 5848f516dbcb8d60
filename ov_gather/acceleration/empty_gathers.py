"""Gathers with static empty shapes, whose compilation crashes OpenVINO's CPU plugin (division by zero)."""

from __future__ import annotations

from ov_gather.acceleration.graph import INDICES, constant, redirect_readers, walk
from ov_gather.acceleration.guards import is_ours
from ov_gather.extension.python_api import Model, Node, Output
from ov_gather.extension.python_api import opset13 as ops


def empty_gathers(model: Model) -> list[Node]:
    """Return the Gathers, bodies included, that the CPU plugin cannot compile because data or indices are empty."""
    return [node for _, node in walk(model) if node.get_type_name() == "Gather" and not is_ours(node) and _is_empty(node)]


def _is_empty(gather: Node) -> bool:
    data, indices = gather.input_values()[:2]
    if any(
        one.is_dynamic for one in (data.get_partial_shape(), indices.get_partial_shape(), gather.get_output_partial_shape(0))
    ):
        return False
    return 0 in (*data.get_shape(), *indices.get_shape()) and (constant(data) is None or constant(indices) is None)


def fill(gather: Node) -> None:
    """Pad the inputs of an empty Gather with zeros and slice the result back to its shape, if that is empty.

    before: Gather(data [0, 4], indices [3], axis 1)
    after:  Slice(Gather(Pad(data) [1, 4], indices [3], axis 1), to [0, 3])
    """
    shape, readers = list(gather.get_output_shape(0)), gather.output(0).get_target_inputs()
    for port in (0, INDICES):
        gather.input(port).replace_source_output(_filled(gather.input_value(port)))
    gather.validate_and_infer_types()
    if 0 not in shape:  # padding leaves the result as it is: the indexed axis alone was empty
        return
    axes = list(range(len(shape)))
    starts, stops, steps = (ops.constant(numbers) for numbers in ([0] * len(shape), shape, [1] * len(shape)))
    redirect_readers(gather, ops.slice(gather, starts, stops, steps, ops.constant(axes)), readers)


def _filled(tensor: Output) -> Output:
    """Return a tensor in which the axes of size 0 are padded to size 1."""
    shape = list(tensor.get_shape())
    if 0 not in shape:
        return tensor
    none, added = ops.constant([0] * len(shape)), ops.constant([int(size == 0) for size in shape])
    return ops.pad(tensor, none, added, "constant", ops.constant(0, tensor.get_element_type())).output(0)
