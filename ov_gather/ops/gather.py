"""Gather: output[b, o, i, n] = data[b, o, indices[b, i], n], with b the batch dimensions and the index along the axis.

The versions differ in batch_dims (since 7), in negative indices (specified since 8), and in the effect of an index out of
bounds (zeros in 8; in our own opset, the attribute `bounds` decides).
"""

from __future__ import annotations

from dataclasses import replace

from ov_gather.ir.shapes import ANY, UNKNOWN, PartialShape
from ov_gather.ops.shape_rules import (
    AXIS_INPUT,
    DATA,
    GATHER_INPUTS,
    INDICES,
    UNSIGNED_INDICES,
    batch_dimensions,
    in_our_opset,
    open_dims,
    referenced,
    require_one_number,
)
from ov_gather.ops.spec import (
    Arrays,
    Attribute,
    Attributes,
    IndexRule,
    Operation,
    RankError,
    Shapes,
    numbered_opsets,
    require_axis,
)

AXIS = 2


def _batch_range(shapes: Shapes) -> tuple[int, int] | None:
    rank = shapes[INDICES].rank
    return None if rank is None else (-rank, rank)


def _batch_dims(attributes: Attributes, rank: int | None) -> int | None:
    """Return the number of batch dimensions, counted from the front; None if that needs the open rank of indices."""
    batch: int = attributes.get("batch_dims", 0)
    return batch if batch >= 0 else None if rank is None else batch + rank


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape: data's, with the axis replaced by indices' other dimensions. Raises RankError, DimensionError."""
    data, indices, axis_shape = shapes
    require_one_number(axis_shape, AXIS)
    axis = attributes.get("axis")
    if data.rank == 0 and indices.rank is None:
        data = PartialShape((ANY,))  # OpenVINO treats it as a vector in this case
    if axis is not None:
        require_axis(axis, data, DATA)
    batch = _batch_dims(attributes, indices.rank)
    from_front = axis % data.rank if axis is not None and data.rank else axis
    limits = [limit for limit in (indices.rank, from_front) if limit is not None and limit >= 0]
    if batch is not None and not 0 <= batch <= min(limits, default=batch):
        raise RankError(f"batch_dims is {batch}", "it may exceed neither axis nor the rank of indices", INDICES)
    if data.dims is None or indices.dims is None or batch is None:
        return (UNKNOWN,)
    rank = len(data.dims)
    others = rank + len(indices.dims) - 1 - 2 * batch
    if batch > rank or others < 0:
        raise RankError(f"data {data} and indices {indices} have too few dimensions", f"batch_dims is {batch}", DATA)
    common = batch_dimensions(data, indices, batch)
    if axis is None:
        return (PartialShape((*common, *(ANY,) * others)),)
    axis %= rank
    return (PartialShape((*common, *data.dims[batch:axis], *indices.dims[batch:], *data.dims[axis + 1 :])),)


def restrict(shapes: Shapes, attributes: Attributes) -> None:
    """Raise RankError if data is a scalar, which OpenVINO accepts while the axis is not constant."""
    if shapes[DATA].rank == 0:
        raise RankError("data is a scalar", "Gather takes data of rank 1 or more", DATA)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions, batch dimensions alike for data and indices. An axis that is not constant counts as the last."""
    infer_shapes(shapes, attributes)
    data, indices, axis_shape = shapes
    batch_dims, axis = attributes.get("batch_dims", 0), attributes.get("axis", -1)
    index_dims = open_dims(indices, max(1, abs(batch_dims)))
    batch = _batch_dims(attributes, len(index_dims)) or 0
    dims = open_dims(data, max(2, axis + 1, batch - axis))
    common = tuple((dims[i].intersect(index_dims[i]) or dims[i]).closest_to(size) for i in range(batch))
    return (
        (*common, *(dim.closest_to(size) for dim in dims[batch:])),
        (*common, *(dim.closest_to(size) for dim in index_dims[batch:])),
        tuple(1 for _ in axis_shape.dims or ()),
    )


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds, unless `bounds` is "zero"."""
    from ov_gather.kernels.arguments import as_index_dtype
    from ov_gather.kernels.gather import gather

    indices = as_index_dtype(inputs[INDICES])
    batch_dims = attributes.get("batch_dims", 0)
    return (gather(inputs[DATA], indices, attributes["axis"], batch_dims, bounds=attributes.get("bounds", "error")),)


_reference = referenced("gather")
_BATCH_DIMS = Attribute("batch_dims", default=0, valid_range=_batch_range)

GATHER_1 = Operation(
    name="Gather-1",
    type="Gather",
    opsets=numbered_opsets(1, 6),
    inputs=(*GATHER_INPUTS, AXIS_INPUT),
    infer_shapes=infer_shapes,
    # The CPU plugin yields zeros for negative indices; ONNX and our kernel wrap them.
    index_rule=replace(UNSIGNED_INDICES, negative="OpenVINO writes zeros for it"),
    restrict=restrict,
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=_reference,
    custom_version=lambda attributes: ("Gather", attributes),
)
GATHER_7 = replace(GATHER_1, name="Gather-7", opsets=numbered_opsets(7, 7), attributes=(_BATCH_DIMS,))
GATHER_8 = replace(
    GATHER_7,
    name="Gather-8",
    opsets=numbered_opsets(8),
    index_rule=IndexRule(INDICES, zero_fill=lambda attributes: True),
    evaluate=lambda inputs, attributes: evaluate(inputs, {**attributes, "bounds": "zero"}),
    reference=lambda inputs, attributes: _reference(inputs, {**attributes, "bounds": "zero"}),
    custom_version=lambda attributes: ("Gather", {**attributes, "bounds": "zero"}),
)
GATHER_CUSTOM = in_our_opset(
    GATHER_8,
    "Gather",
    attributes=(_BATCH_DIMS, Attribute("bounds", default="error", kind="error|zero")),
    index_rule=IndexRule(INDICES, zero_fill=lambda attributes: attributes["bounds"] == "zero"),
    evaluate=evaluate,
    reference=_reference,
)
