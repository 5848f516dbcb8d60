"""Folding of GatherElements and GatherND of constants.

OpenVINO 2026.4.1 cannot fold them: its CPU plugin executes them at compile time. A batched MatMul that reads such a result
through a Transpose then reads it in the wrong layout.

before: GatherElements-6(Constant, Constant) -> Transpose -> MatMul
after:  Constant -> Transpose -> MatMul
"""

from __future__ import annotations

from math import ceil, prod
from typing import Any

from numpy.typing import NDArray

from ov_gather.acceleration.changes import Tracker
from ov_gather.acceleration.graph import constant, dims, is_constant_foldable, nodes_of, operation, readers, replace_node
from ov_gather.extension.python_api import ConstantFolding, Manager, Model, Node, Output, Tensor, op
from ov_gather.kernels.gather_elements import gather_elements
from ov_gather.kernels.gather_nd import gather_nd
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_nd import GATHER_ND_5, GATHER_ND_8

LARGEST = 2**26
"""Bytes up to which a folded result may be larger than the constants that it is computed from."""

_STOCK = tuple(operation.name for operation in (GATHER_ELEMENTS_6, GATHER_ND_5, GATHER_ND_8))


def fold_constants(model: Model, tracker: Tracker, *, only_misread: bool = True) -> None:
    """Fold constant gathers that a batched MatMul would misread; without `only_misread` also others that are small (`_fits`).

    OpenVINO may fuse a constant that is not misread with its readers, and round differently.
    """
    for gather in nodes_of(model, *_STOCK):
        if not is_constant_foldable(gather.input_values()) or gather.get_output_partial_shape(0).is_dynamic:
            continue
        misread = _is_misread(gather)
        if not misread and (only_misread or not _fits(gather)):
            continue
        if (folded := _folded(gather)) is not None:
            replace_node(gather, folded)
            what = "Constant" + ", as a MatMul would read it in the wrong layout" * misread
            tracker.done(gather, what, folded, corrects=misread)


def _is_misread(gather: Node) -> bool:
    """Return True if a batched MatMul may read the result through constant operations, and a Transpose moves the batch axis.

    The MatMul must also transpose: by `transpose_b`, or as OpenVINO fuses it with the last of several Transposes. Einsum is
    lowered to such a MatMul.
    """
    left, seen = [(gather, 0, False)], set()
    while left:
        node, transposes, moved = left.pop()
        for reader in readers(node):
            kind, key = reader.get_type_name(), (reader.get_instance_id(), transposes, moved)
            batched = moved and kind == "MatMul" and len(dims(reader.input_value(1)) or ()) == 3
            if kind == "Einsum":
                return True
            if key in seen:
                continue
            seen.add(key)
            if is_constant_foldable(reader.input_values()):
                is_transpose = kind == "Transpose"
                left.append((reader, min(transposes + is_transpose, 2), moved or (is_transpose and _moves_batch(reader))))
            elif batched and (transposes > 1 or reader.get_attributes()["transpose_b"]):
                return True
    return False


def _moves_batch(transpose: Node) -> bool:
    order = constant(transpose.input_value(1))
    return order is None or bool(order.size and order[0] != 0)


def _fits(gather: Node) -> bool:
    """Return True if the result has at most LARGEST bytes or is no larger than the constants that it is computed from."""
    size, operands = _size(gather.output(0)), Model(gather.input_values(), []).get_ops()
    return size <= LARGEST or size <= sum(_size(node.output(0)) for node in operands if node.get_type_name() == "Constant")


def _size(value: Output) -> int:
    return ceil(int(value.get_element_type().bitwidth) * prod(map(int, value.get_shape())) / 8)


def _folded(gather: Node) -> Node | None:
    """Return the result as a Constant; None if operands cannot be folded, or an index is out of bounds and must still raise."""
    kind, attributes = gather.get_element_type(), gather.get_attributes()
    if kind.bitwidth % 8 or kind.get_type_name() == "string":
        return None
    data, indices = (value_before_compiling(value) for value in gather.input_values())
    if data is None or indices is None:
        return None
    try:
        if operation(gather) == "GatherElements-6":
            result = gather_elements(_bytes(data), indices, attributes["axis"])
        else:
            result = gather_nd(_bytes(data), indices, attributes["batch_dims"])
    except IndexError:
        return None
    tensor = Tensor(kind, gather.get_output_shape(0))
    _bytes(tensor.data)[...] = result.reshape(tensor.shape)
    return op.Constant(tensor)


def value_before_compiling(value: Output) -> NDArray[Any] | None:
    """Return the constant that OpenVINO's ConstantFolding computes for a value; None if it cannot."""
    if (known := constant(value)) is None:
        alone, manager = Model([value], []).clone(), Manager()
        manager.register_pass(ConstantFolding())
        manager.run_passes(alone)
        known = constant(alone.get_results()[0].input_value(0))
    return known


def _bytes(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements as unsigned integers of the same size: OpenVINO exposes some element types as others."""
    return array.view(f"u{array.itemsize}")
