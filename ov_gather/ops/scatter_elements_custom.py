"""ScatterElements of our custom opset, which is ONNX ScatterElements-18: updates apply in order, and every index is checked."""

from __future__ import annotations

from dataclasses import replace

from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import OPENVINO_NAMES
from ov_gather.ops import scatter_elements_update
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.shape_rules import UPDATES, axis_of_data, in_our_opset, refuse_scalars
from ov_gather.ops.spec import Attribute, Attributes, RankError, Shapes, require_axis

_AXIS_SHAPE = PartialShape.of(())


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, data's; indices may not exceed data off the axis. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    refuse_scalars("ScatterElements", shapes)
    for port, shape in enumerate(shapes):
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


SCATTER_ELEMENTS_CUSTOM = with_lanes(
    in_our_opset(
        replace(SCATTER_ELEMENTS_UPDATE_12, inputs=SCATTER_ELEMENTS_UPDATE_12.inputs[: scatter_elements_update.AXIS]),
        "ScatterElements",
        attributes=(
            Attribute("axis", required=False, default=0, valid_range=axis_of_data),
            Attribute("reduction", required=False, default="none", kind="|".join(OPENVINO_NAMES)),
        ),
        infer_shapes=infer_shapes,
        restrict=lambda shapes, attributes: None,
        choose_sizes=choose_sizes,
    )
)
