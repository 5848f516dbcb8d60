"""GatherND: output[b, i] = data[b, *indices[b, i]], with coordinates in the last dimension of indices and batch dimensions b.

Version 5 fuses the batch dimensions of the output into one, and its specification does not define negative indices; that of
version 8 does.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from ov_gather.ir.shapes import UNKNOWN, Dimension, PartialShape
from ov_gather.ops.shape_rules import (
    DATA,
    FIRST_GATHER_INDICES,
    GATHER_INPUTS,
    INDICES,
    batch_dimensions,
    in_our_opset,
    open_dims,
    referenced,
    refuse_scalars,
)
from ov_gather.ops.spec import (
    Arrays,
    Attribute,
    Attributes,
    Compute,
    CoordinateSizes,
    DimensionError,
    IndexRule,
    Operation,
    RankError,
    Shapes,
    numbered_opsets,
)


def _batch_range(shapes: Shapes) -> tuple[int, int] | None:
    ranks = [shape.rank for shape in shapes if shape.rank]
    return (0, min(ranks) - 1) if ranks else None


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape: the dimensions of indices except the last, then those of data behind the indexed ones.

    Raises RankError, DimensionError.
    """
    data, indices = shapes
    refuse_scalars("GatherND", shapes)
    batch = attributes["batch_dims"]
    if any(shape.rank is not None and not 0 <= batch < shape.rank for shape in shapes):
        raise RankError(f"batch_dims is {batch}", "it must be below the ranks of data and indices", INDICES)
    if data.dims is None or indices.dims is None:
        return (UNKNOWN,)
    depth = indices.dims[-1]
    if depth.is_static and batch + depth.lower > len(data.dims):
        raise DimensionError(
            f"tuples of {depth} coordinates and {batch} batch dimensions exceed the rank of data {data}",
            "the last dimension of indices is at most data's rank less batch_dims",
            INDICES,
        )
    if not depth.is_static:
        return (UNKNOWN,)
    common = batch_dimensions(data, indices, batch)
    return (PartialShape((*common, *indices.dims[batch:-1], *data.dims[batch + depth.lower :])),)


def restrict(shapes: Shapes, attributes: Attributes) -> None:
    """Raise DimensionError if batch dimensions differ, which OpenVINO checks only for tuples of known size."""
    batch_dimensions(shapes[DATA], shapes[INDICES], attributes["batch_dims"])


def infer_fused_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape with its batch dimensions fused into one. Raises RankError, DimensionError."""
    (output,) = infer_shapes(shapes, attributes)
    batch = attributes["batch_dims"]
    if output.dims is None or batch < 2:
        return (output,)
    uppers = [dim.upper for dim in output.dims[:batch] if dim.upper is not None]
    is_bounded = len(uppers) == batch or 0 in uppers
    fused = Dimension(prod(dim.lower for dim in output.dims[:batch]), prod(uppers) if is_bounded else None)
    return (PartialShape((fused, *output.dims[batch:])),)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions: batch dimensions alike for data and indices, and one coordinate if their number is open."""
    infer_shapes(shapes, attributes)
    batch = attributes["batch_dims"]
    indices = open_dims(shapes[INDICES], batch + 2)
    depth = indices[-1].closest_to(1)
    data = open_dims(shapes[DATA], batch + depth + 1)
    common = tuple((have.intersect(want) or have).closest_to(size) for have, want in zip(data[:batch], indices, strict=False))
    return (
        (*common, *(dim.closest_to(size) for dim in data[batch:])),
        (*common, *(dim.closest_to(size) for dim in indices[batch:-1]), depth),
    )


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for a coordinate out of bounds."""
    from ov_gather.kernels.arguments import as_index_dtype
    from ov_gather.kernels.gather_nd import gather_nd

    return (gather_nd(inputs[DATA], as_index_dtype(inputs[INDICES]), attributes["batch_dims"]),)


def _fused(compute: Compute) -> Compute:
    """Return a computation whose output has its batch dimensions fused into one."""

    def compute_fused(inputs: Arrays, attributes: Attributes) -> Arrays:
        (output,) = compute(inputs, attributes)
        batch = attributes["batch_dims"]
        return (output.reshape(prod(output.shape[:batch]), *output.shape[batch:]) if batch > 1 else output,)

    return compute_fused


_COORDINATES = CoordinateSizes(INDICES, "batch_dims")

GATHER_ND_8 = Operation(
    name="GatherND-8",
    type="GatherND",
    opsets=numbered_opsets(8),
    attributes=(Attribute("batch_dims", default=0, valid_range=_batch_range),),
    inputs=GATHER_INPUTS,
    infer_shapes=infer_shapes,
    index_rule=IndexRule(INDICES, _COORDINATES),
    restrict=restrict,
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=referenced("gather_nd"),
    custom_version=lambda attributes: ("GatherND", attributes),
)
# The specification of version 5 does not define negative indices. ONNX, our kernel and the CPU plugin wrap them.
GATHER_ND_5 = replace(
    GATHER_ND_8,
    name="GatherND-5",
    opsets=numbered_opsets(5, 7),
    infer_shapes=infer_fused_shapes,
    index_rule=replace(FIRST_GATHER_INDICES, sizes=_COORDINATES),
    evaluate=_fused(evaluate),
    reference=_fused(GATHER_ND_8.reference),
    custom_version=lambda attributes: None,
)
GATHER_ND_CUSTOM = in_our_opset(GATHER_ND_8, "GatherND")
