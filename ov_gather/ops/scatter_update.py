"""ScatterUpdate-3: output[b, indices[i], n] = updates[b, i, n], where b and n are the dimensions before and behind the axis.

It is the inverse of Gather without batch dimensions. ONNX has no such operator.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.shape_rules import (
    AXIS_INPUT,
    DATA,
    INDICES,
    SCATTER_INPUTS,
    UNSIGNED_INDICES,
    UPDATES,
    open_dims,
    referenced,
    require_one_number,
    sizes_of_updates,
    type_of_data_and_updates,
)
from ov_gather.ops.spec import (
    Arrays,
    Attributes,
    DimensionError,
    Operation,
    RankError,
    Shapes,
    numbered_opsets,
    require_axis,
)

AXIS = 3


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, which is data's. Raises RankError, DimensionError."""
    data, indices, updates, axis_shape = shapes
    require_one_number(axis_shape, AXIS)
    axis = attributes.get("axis")
    if axis is not None:
        require_axis(axis, PartialShape.of((1,)) if data.rank == 0 else data, DATA)
    if data.dims is None or indices.dims is None:
        return (data,)
    rank = len(data.dims) + len(indices.dims) - 1
    if updates.rank is not None and updates.rank != rank:
        raise RankError(
            f"updates {updates} have rank {updates.rank}, data {data} and indices {indices}",
            f"the rank of updates must be {rank}: the ranks of data and indices, less 1",
            UPDATES,
        )
    if axis is not None:
        axis %= max(1, len(data.dims))
        wanted = PartialShape((*data.dims[:axis], *indices.dims, *data.dims[axis + 1 :]))
        if updates.intersect(wanted) is None:
            raise DimensionError(
                f"updates {updates} do not fit data {data} and indices {indices}",
                f"for axis {axis} make them {wanted}",
                UPDATES,
            )
    return (data,)


def restrict(shapes: Shapes, attributes: Attributes) -> None:
    """Raise RankError if data is a scalar, which OpenVINO accepts."""
    if shapes[DATA].rank == 0:
        raise RankError("data is a scalar", "ScatterUpdate takes data of rank 1 or more", DATA)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions, so that updates fit data and indices. An axis that is not constant counts as the last."""
    infer_shapes(shapes, attributes)
    axis = attributes.get("axis", -1)
    rank, index_rank = _ranks(shapes, max(axis + 1, -axis))
    if index_rank < 0 or not -rank <= axis < rank:
        raise RankError(f"no data fits axis {axis} and updates {shapes[UPDATES]}", "correct their ranks", DATA)
    axis %= rank
    data, indices = open_dims(shapes[DATA], rank), open_dims(shapes[INDICES], index_rank)
    chosen = sizes_of_updates((*data[:axis], *indices, *data[axis + 1 :]), shapes[UPDATES], size)
    behind = axis + index_rank
    return (
        (*chosen[:axis], data[axis].closest_to(size), *chosen[behind:]),
        chosen[axis:behind],
        chosen,
        tuple(1 for _ in shapes[AXIS].dims or ()),
    )


def _ranks(shapes: Shapes, least: int) -> tuple[int, int]:
    """Choose ranks of data and indices that fit updates; data has at least rank `least` if updates allow it."""
    data, indices, updates = (shape.rank for shape in shapes[:AXIS])
    if indices is None:
        indices = (0 if updates == 0 else 1) if updates is None or data is None else updates + 1 - data
    if data is None:
        data = max(2, least) if updates is None else updates + 1 - indices
    return data, indices


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel, as ScatterElements along the middle of three dimensions.

    Raises IndexError for an index out of bounds.
    """
    import numpy as np

    from ov_gather.kernels.arguments import as_index_dtype, out_of_bounds, unravel
    from ov_gather.kernels.reference import ALL_IN_BOUNDS, first_out_of_bounds, snapshot
    from ov_gather.kernels.scatter_elements import scatter_elements

    data, updates = inputs[DATA], inputs[UPDATES]
    indices = snapshot(as_index_dtype(inputs[INDICES]))
    axis = attributes["axis"] % data.ndim
    size = data.shape[axis]
    position = first_out_of_bounds(indices, size)
    if position != ALL_IN_BOUNDS:  # raise here: the indices are reshaped below
        raise out_of_bounds("scatter_update", indices, unravel(position, indices.shape), axis, size)
    outer, inner = prod(data.shape[:axis]), prod(data.shape[axis + 1 :])
    lines = (outer, indices.size, inner)
    where = np.broadcast_to(indices.reshape(1, -1, 1), lines)
    output = scatter_elements(data.reshape(outer, size, inner), where, updates.reshape(lines), 1)
    return (output.reshape(data.shape),)


SCATTER_UPDATE_3 = Operation(
    name="ScatterUpdate-3",
    type="ScatterUpdate",
    opsets=numbered_opsets(3),
    inputs=(*SCATTER_INPUTS, AXIS_INPUT),
    infer_types=type_of_data_and_updates,
    infer_shapes=infer_shapes,
    restrict=restrict,
    index_rule=replace(UNSIGNED_INDICES, negative="OpenVINO refuses negative indices of ScatterUpdate"),
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=referenced("scatter_update"),
)
