"""The right outputs of a layer: by our reference in this process, by that of a user in a worker process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.fields import OperationError
from ov_gather.ops.functions import place_of
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import Attributes, Operation
from ov_gather.ops.users import declared_files
from ov_gather.runtimes.isolated import borrowed
from ov_gather.runtimes.reference import Referred
from ov_gather.system.worker import CrashedError

LIMIT = 60.0
"""Seconds that a reference may take for one case."""

Arrays = Sequence[NDArray[Any]]


def compute(view: LayerView, operands: Arrays, *, anew: bool = False) -> Arrays:
    """Compute the outputs by the reference; `anew`, in a new process.

    Raises IndexError for an index out of bounds; OperationError if the reference is wrong, hangs, or takes too much memory.
    """
    operation, attributes = view.operation, view.attributes_for(operands)
    if view.is_of_family:
        return operation.reference(operands, attributes)
    fault = f"{place_of(operation.reference)}: reference of {operation.name}"
    with borrowed(["reference"]) as (runtime,):
        if anew:
            runtime.stop()
        try:
            runtime.activate(Referred(declared_files(), operation.type, view.layer.version or operation.opsets[0], attributes))
            outputs: Arrays = runtime.ask("execute", operands, limit=LIMIT)
        except CrashedError as error:
            raise OperationError(f"{fault} {error}: make it compute a case in time") from None
        except IndexError as error:
            if _are_in_bounds(operation, operands, attributes):
                raise OperationError(f"{fault} refuses indices that its index rule permits: {error}") from None
            raise
    return outputs


def _are_in_bounds(operation: Operation, operands: Arrays, attributes: Attributes) -> bool:
    rule = operation.index_rule
    sizes = rule.sizes([PartialShape.of(array.shape) for array in operands], attributes) if rule else None
    if rule is None or sizes is None:
        return False
    indices, size = operands[rule.port], np.array(sizes if len(sizes) > 1 else sizes[0])
    return bool(((rule.lowest_specified(size) <= indices) & (indices < size)).all())


def confirm(view: LayerView, right: Arrays, again: Arrays | Exception) -> None:
    """Raise OperationError if a new process computes other outputs: the reference is at fault, not what differs from it."""
    if isinstance(again, Exception) or any(one.tobytes() != two.tobytes() for one, two in zip(right, again, strict=True)):
        place = place_of(view.operation.reference)
        raise OperationError(
            f"{place}: reference of {view.operation.name} computes other values for the same inputs in a new process: "
            "it must neither keep state nor be random"
        )
