"""GatherElements of our custom opset: ONNX GatherElements-13, optionally with broadcast indices and a transposed output.

Indices may be smaller than data off the axis, unless same_shape is set. With lanes, data has an extra last dimension, whose
elements are gathered together, such as the two halves of a 64-bit number.
"""

from __future__ import annotations

from ov_gather.ir.shapes import ANY, Dimension, PartialShape
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6, OffAxis, infer_output, rank_for, rank_of
from ov_gather.ops.shape_rules import DATA, INDICES, axis_of_data, in_our_opset, open_dims
from ov_gather.ops.spec import Arrays, Attribute, Attributes, IndexRule, RankError, Shapes, require_axis


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
    """Infer the output shape: indices' shape; with broadcast, data's sizes off the axis; with transpose, the last two swapped.

    With same_shape, indices must have data's sizes off the axis, even with broadcast. With lanes, the output has data's lanes
    as its last dimension.

    Raises RankError, DimensionError.
    """
    elements, axis, lanes = _without_lanes(shapes, attributes)
    (output,) = infer_output(elements, axis, *_off_axis(attributes))
    if output.dims is None:
        return (output,)
    if lanes is not None:
        return (PartialShape((*output.dims, lanes)),)
    if not attributes["transpose"]:
        return (output,)
    if len(output.dims) < 2:
        raise RankError("data is a vector", "transpose=true needs a rank of at least 2", DATA)
    *others, rows, columns = output.dims
    return (PartialShape((*others, columns, rows)),)


def _without_lanes(shapes: Shapes, attributes: Attributes) -> tuple[Shapes, int, Dimension | None]:
    """Return the shapes without the lanes of data, the axis within them, and the number of lanes (None without lanes).

    Raises RankError.
    """
    data, indices = shapes
    axis: int = attributes["axis"]
    if not attributes["lanes"]:
        require_axis(axis, indices if data.rank is None else data, DATA)
        return shapes, axis, None
    if attributes["transpose"]:
        raise RankError("transpose=true is set, too", "lanes=true and transpose=true exclude each other", DATA)
    if data.rank == 0:
        raise RankError("data is a scalar", "lanes=true needs a rank of at least 2", DATA)
    rank = data.rank if data.rank is not None else None if indices.rank is None else indices.rank + 1
    if rank is not None:
        if not (-rank <= axis < -1 or 0 <= axis < rank - 1):
            hint = f"it may be {-rank} to -2 or 0 to {rank - 2}; the last axis holds the lanes"
            raise RankError(f"axis {axis} is not one of rank {rank}", hint, DATA)
        axis %= rank
    elif axis < 0:
        axis += 1
    elements = data if data.dims is None else PartialShape(data.dims[:-1])
    return (elements, indices), axis, ANY if data.dims is None else data.dims[-1]


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions. Off the axis, indices get smaller sizes than data if allowed; with broadcast, size 1."""
    infer_shapes(shapes, attributes)
    elements, axis, lanes = _without_lanes(shapes, attributes)
    rank = rank_of(elements) or rank_for(axis)
    data, indices = [], []
    for i, (have, want) in enumerate(zip(*(open_dims(shape, rank) for shape in elements), strict=True)):
        if i == axis % rank:
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
    return (*data, *([] if lanes is None else [lanes.closest_to(2)])), tuple(indices)


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds."""
    import numpy as np

    from ov_gather.kernels.gather_elements import gather_elements

    data, indices = inputs
    if attributes["lanes"]:
        lanes = np.moveaxis(data, -1, 0)
        plain = {**attributes, "lanes": False, "axis": attributes["axis"] % data.ndim}
        outputs = [evaluate((lane, indices), plain)[0] for lane in lanes]
        return (np.stack(outputs, -1) if outputs else np.empty((*indices.shape, 0), data.dtype),)
    if attributes["broadcast"]:
        axis = attributes["axis"] % data.ndim
        indices = np.broadcast_to(indices, (*data.shape[:axis], indices.shape[axis], *data.shape[axis + 1 :]))
    if not attributes["transpose"]:
        return (gather_elements(data, indices, attributes["axis"]),)
    *others, rows, columns = indices.shape
    output = np.empty((*others, columns, rows), data.dtype)
    gather_elements(data, indices, attributes["axis"], out=np.swapaxes(output, -1, -2))
    return (output,)


GATHER_ELEMENTS_CUSTOM = in_our_opset(
    GATHER_ELEMENTS_6,
    "GatherElements",
    attributes=(
        Attribute("axis", required=True, default=0, valid_range=axis_of_data),
        Attribute("broadcast", default=False, kind="bool"),
        Attribute("transpose", default=False, kind="bool"),
        Attribute("same_shape", default=False, kind="bool"),
        Attribute("lanes", default=False, kind="bool"),
    ),
    infer_shapes=infer_shapes,
    index_rule=IndexRule(INDICES),
    choose_sizes=choose_sizes,
    evaluate=evaluate,
)
