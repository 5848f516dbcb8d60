"""GatherElements of our custom opset is ONNX GatherElements-13, which may also broadcast its indices and transpose its output.

Indices may be smaller than data off the axis, unless the attribute same_shape forbids that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import F32, I32, I64
from ov_gather.ir.shapes import Dimension, PartialShape
from ov_gather.ops.gather_elements import OffAxis, axis_range, infer_output, rank_for, rank_of
from ov_gather.ops.shape_rules import DATA, INDICES, along_axis, open_dims, type_of_data
from ov_gather.ops.spec import (
    CUSTOM_OPSET,
    Attribute,
    Attributes,
    IndexRule,
    Input,
    Operation,
    RankError,
    Shapes,
    whole_byte_types,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _within(have: Dimension, want: Dimension) -> Dimension | None:
    return want.intersect(Dimension(0, have.upper))


def _broadcast(have: Dimension, want: Dimension) -> Dimension | None:
    return have if 1 in want else have.intersect(want)


def _off_axis(attributes: Attributes) -> tuple[OffAxis, str]:
    if attributes["same_shape"]:
        return Dimension.intersect, "same_shape=true takes data and indices of equal dimensions"
    if attributes["broadcast"]:
        return _broadcast, "each dimension of indices must be 1 or data's"
    return _within, "no dimension of indices may exceed data's"


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Give the output indices' shape, with broadcast data's off the axis, with transpose its last two dimensions swapped.

    With same_shape indices must have data's shape off the axis, whether broadcast or not.

    Raises RankError, DimensionError.
    """
    (output,) = infer_output(shapes, attributes["axis"], *_off_axis(attributes))
    if not attributes["transpose"] or output.dims is None:
        return (output,)
    if len(output.dims) < 2:
        raise RankError("data is a vector", "transpose=true needs a rank of at least 2", DATA)
    *others, rows, columns = output.dims
    return (PartialShape((*others, columns, rows)),)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions. Off the axis indices are smaller than data, or one with broadcast, where they may be."""
    infer_shapes(shapes, attributes)
    rank = rank_of(shapes) or rank_for(attributes["axis"])
    data, indices = [], []
    for i, (have, want) in enumerate(zip(*(open_dims(shape, rank) for shape in shapes), strict=True)):
        if i == attributes["axis"] % rank:
            data.append(have.closest_to(size))
            indices.append(want.closest_to(size))
        elif attributes["same_shape"] or (attributes["broadcast"] and 1 not in want):
            common = have.intersect(want) or have
            data.append(common.closest_to(size))
            indices.append(data[-1])
        else:
            data.append(have.closest_to(max(size, want.lower)))
            smaller = 1 if attributes["broadcast"] else max(1, data[-1] - 1)
            indices.append((want.intersect(Dimension(0, data[-1])) or want).closest_to(smaller))
    return tuple(data), tuple(indices)


def evaluate(inputs: Sequence[NDArray[Any]], attributes: Attributes) -> tuple[NDArray[Any]]:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds."""
    import numpy as np

    from ov_gather.kernels.gather_elements import gather_elements

    data, indices = inputs
    if attributes["broadcast"]:
        axis = attributes["axis"] % data.ndim
        indices = np.broadcast_to(indices, (*data.shape[:axis], indices.shape[axis], *data.shape[axis + 1 :]))
    if not attributes["transpose"]:
        return (gather_elements(data, indices, attributes["axis"]),)
    *others, rows, columns = indices.shape
    output = np.empty((*others, columns, rows), data.dtype)
    gather_elements(data, indices, attributes["axis"], out=np.swapaxes(output, -1, -2))
    return (output,)


GATHER_ELEMENTS_CUSTOM = Operation(
    name="GatherElements-ov_gather",
    type="GatherElements",
    opsets=(CUSTOM_OPSET,),
    attributes=(
        Attribute("axis", required=True, default=0, valid_range=axis_range),
        Attribute("broadcast", required=False, default=False, kind="bool"),
        Attribute("transpose", required=False, default=False, kind="bool"),
        Attribute("same_shape", required=False, default=False, kind="bool"),
    ),
    inputs=(
        Input("data", assumed=F32, element_types=whole_byte_types()),
        Input("indices", assumed=I64, element_types=(I32, I64)),
    ),
    outputs=("output",),
    infer_types=type_of_data,
    infer_shapes=infer_shapes,
    index_rule=IndexRule(
        port=INDICES,
        sizes=along_axis,
        specified="[-s, s-1]",
        lowest_specified=lambda size: -size,
    ),
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    custom_attributes={},
)
