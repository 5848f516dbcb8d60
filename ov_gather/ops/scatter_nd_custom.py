"""ScatterND of our custom opset, which is ONNX ScatterND-18: updates apply in order, and every coordinate is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import OPENVINO_NAMES
from ov_gather.ops import scatter_nd_update
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.scatter_nd_update import SCATTER_ND_UPDATE_15
from ov_gather.ops.shape_rules import DATA, INDICES, UPDATES
from ov_gather.ops.spec import (
    CUSTOM_OPSET,
    Attribute,
    Attributes,
    RankError,
    Shapes,
    whole_byte_types,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, data's; the update of one element must be a scalar. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    output = scatter_nd_update.infer_shapes(shapes, attributes)
    if indices.rank == 1 and indices.sizes == (data.rank,) and updates.rank:
        raise RankError(f"updates {updates} have a rank of {updates.rank}", "the update of one element is a scalar", UPDATES)
    return output


def evaluate(inputs: Sequence[NDArray[Any]], attributes: Attributes) -> tuple[NDArray[Any]]:
    """Execute the operation on our kernel. Raises IndexError for a coordinate out of bounds."""
    return scatter_nd_update.evaluate(inputs, attributes)


SCATTER_ND_CUSTOM = with_lanes(
    replace(
        SCATTER_ND_UPDATE_15,
        name="ScatterND-ov_gather",
        type="ScatterND",
        opsets=(CUSTOM_OPSET,),
        attributes=(Attribute("reduction", required=False, default="none", kind="|".join(OPENVINO_NAMES)),),
        inputs=(
            replace(SCATTER_ND_UPDATE_15.inputs[DATA], element_types=whole_byte_types()),
            SCATTER_ND_UPDATE_15.inputs[INDICES],
            SCATTER_ND_UPDATE_15.inputs[UPDATES],
        ),
        infer_shapes=infer_shapes,
        restrict=lambda shapes, attributes: None,
        evaluate=evaluate,
        custom_version=lambda attributes: ("ScatterND", attributes),
    )
)
