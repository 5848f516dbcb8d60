"""ScatterND of our custom opset, which is ONNX ScatterND-18: updates apply in order, and every coordinate is checked."""

from __future__ import annotations

from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import OPENVINO_NAMES
from ov_gather.ops import scatter_nd_update
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.scatter_nd_update import SCATTER_ND_UPDATE_15
from ov_gather.ops.shape_rules import UPDATES, in_our_opset
from ov_gather.ops.spec import Attribute, Attributes, RankError, Shapes


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, data's; the update of one element must be a scalar. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    output = scatter_nd_update.infer_shapes(shapes, attributes)
    if indices.rank == 1 and indices.sizes == (data.rank,) and updates.rank:
        raise RankError(f"updates {updates} have a rank of {updates.rank}", "the update of one element is a scalar", UPDATES)
    return output


SCATTER_ND_CUSTOM = with_lanes(
    in_our_opset(
        SCATTER_ND_UPDATE_15,
        "ScatterND",
        attributes=(Attribute("reduction", required=False, default="none", kind="|".join(OPENVINO_NAMES)),),
        infer_shapes=infer_shapes,
        restrict=lambda shapes, attributes: None,
    )
)
