"""ScatterElements of our custom opset, which is ONNX ScatterElements-18: updates apply in order, and every index is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import I32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import OPENVINO_NAMES
from ov_gather.ops import scatter_elements_update
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.shape_rules import DATA, INDICES, UPDATES, axis_of_data
from ov_gather.ops.spec import (
    CUSTOM_OPSET,
    Attribute,
    Attributes,
    RankError,
    Shapes,
    require_axis,
    whole_byte_types,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AXIS_SHAPE = PartialShape.of(())


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, data's; indices may not exceed data off the axis. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    for port, (name, shape) in enumerate((("data", data), ("indices", indices), ("updates", updates))):
        if shape.rank == 0:
            raise RankError(f"{name} is a scalar", "ScatterElements takes tensors of rank 1 or more", port)
        require_axis(attributes["axis"], shape, port)
    output = scatter_elements_update.infer_shapes((*shapes, _AXIS_SHAPE), attributes)
    for given in (indices, updates):
        if data.rank is not None and given.rank is not None and given.rank != data.rank:
            raise RankError(f"data {data} has rank {data.rank}, updates {updates}", "the ranks must be the same", UPDATES)
        scatter_elements_update.restrict((data, given, updates), attributes)
    return output


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions: updates like indices, which do not exceed data off the axis."""
    infer_shapes(shapes, attributes)
    return scatter_elements_update.choose_sizes((*shapes, _AXIS_SHAPE), attributes, size)[:-1]


def evaluate(inputs: Sequence[NDArray[Any]], attributes: Attributes) -> tuple[NDArray[Any]]:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds."""
    return scatter_elements_update.evaluate(inputs, attributes)


SCATTER_ELEMENTS_CUSTOM = with_lanes(
    replace(
        SCATTER_ELEMENTS_UPDATE_12,
        name="ScatterElements-ov_gather",
        type="ScatterElements",
        opsets=(CUSTOM_OPSET,),
        attributes=(
            Attribute("axis", required=False, default=0, valid_range=axis_of_data),
            Attribute("reduction", required=False, default="none", kind="|".join(OPENVINO_NAMES)),
        ),
        inputs=(
            replace(SCATTER_ELEMENTS_UPDATE_12.inputs[DATA], element_types=whole_byte_types()),
            replace(SCATTER_ELEMENTS_UPDATE_12.inputs[INDICES], element_types=(I32, I64)),
            SCATTER_ELEMENTS_UPDATE_12.inputs[UPDATES],
        ),
        infer_shapes=infer_shapes,
        restrict=lambda shapes, attributes: None,
        choose_sizes=choose_sizes,
        evaluate=evaluate,
        custom_version=lambda attributes: ("ScatterElements", attributes),
    )
)
