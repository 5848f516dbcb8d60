"""Shape and type rules that several operations share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ov_gather.ir.element_types import DYNAMIC, I32, I64, INTEGERS, ElementType
from ov_gather.ir.shapes import ANY, Dimension, PartialShape
from ov_gather.ops.spec import (
    CUSTOM_OPSET,
    Arrays,
    Attribute,
    Attributes,
    Compute,
    DimensionError,
    IndexRule,
    Input,
    Operation,
    RankError,
    Shapes,
    TypeRuleError,
    Types,
    whole_byte_types,
)

DATA, INDICES, UPDATES = 0, 1, 2


def type_of_data_and_updates(types: Types) -> tuple[ElementType | None]:
    """Infer the element type of the output, which data and updates share. Raises TypeRuleError if they differ."""
    data, updates = types[DATA], types[UPDATES]
    if data and updates and data is not updates and DYNAMIC not in (data, updates):
        raise TypeRuleError(f"updates have element type {updates}, data has {data}", "they must have the same", UPDATES)
    return (data,)


def axis_of_data(shapes: Shapes) -> tuple[int, int] | None:
    """Return the valid range of an axis of data, [-r, r-1]; None while the rank is open."""
    rank = shapes[DATA].rank
    return None if not rank else (-rank, rank - 1)


GATHER_INPUTS = (Input("data"), Input("indices", INTEGERS, assumed=I64))
SCATTER_INPUTS = (*GATHER_INPUTS, Input("updates"))
AXIS_INPUT = Input(
    "axis", INTEGERS, assumed=I64, attribute=Attribute("axis", required=True, default=0, valid_range=axis_of_data)
)
"""The input `axis` of Gather and the scatters: the axis of data that the indices address."""

UNSIGNED_INDICES = IndexRule(INDICES, specified="[0, s-1]", lowest_specified=lambda size: 0 * size)
"""Indices of the first versions, whose specification allows no negative ones."""
FIRST_GATHER_INDICES = replace(UNSIGNED_INDICES, negative="OpenVINO counts negative indices from the end only since 2025.3")
FIRST_SCATTER_INDICES = replace(
    UNSIGNED_INDICES, negative="OpenVINO 2026.4.1 counts negative indices from the end, as ONNX does"
)


def in_our_opset(operation: Operation, layer_type: str, **changes: Any) -> Operation:
    """Return an operation as one of our opset: data may have any type of whole bytes, and indices are i32 or i64.

    Args:
        operation: the stock operation.
        layer_type: the <layer type> of ours.
        changes: further fields of the result.
    """
    data, indices, *others = operation.inputs
    inputs = (replace(data, element_types=whole_byte_types()), replace(indices, element_types=(I32, I64)), *others)
    ours = replace(operation, name=f"{layer_type}-{CUSTOM_OPSET}", type=layer_type, opsets=(CUSTOM_OPSET,), inputs=inputs)
    return replace(ours, custom_version=lambda attributes: (layer_type, attributes), **changes)


def refuse_scalars(operation: str, shapes: Shapes) -> None:
    """Raise RankError if a tensor is a scalar. The shapes are those of data, indices and updates, as many as there are."""
    for port, (name, shape) in enumerate(zip(("data", "indices", "updates"), shapes, strict=False)):
        if shape.rank == 0:
            raise RankError(f"{name} is a scalar", f"{operation} takes tensors of rank 1 or more", port)


def reduces(attributes: Attributes) -> bool:
    """Return True if a scatter has a reduction."""
    return bool(attributes.get("reduction", "none") != "none")


def referenced(name: str) -> Compute:
    """Return the reference of this name in `ov_gather.ops.reference`, which is imported when it is called: it needs NumPy."""

    def compute(inputs: Arrays, attributes: Attributes) -> Arrays:
        from ov_gather.ops import reference

        return (reference.compute(name, inputs, attributes),)

    return compute


def open_dims(shape: PartialShape, rank: int) -> tuple[Dimension, ...]:
    """Return the dimensions of a shape; if its rank is open, `rank` open dimensions."""
    return (ANY,) * rank if shape.dims is None else shape.dims


def sizes_of_updates(wanted: tuple[Dimension, ...], updates: PartialShape, size: int) -> tuple[int, ...]:
    """Choose sizes that fit both the `wanted` dimensions and those of updates. Raises DimensionError if there are none."""
    chosen = []
    for dim, have in zip(wanted, open_dims(updates, len(wanted)), strict=True):
        common = dim.intersect(have)
        if common is None:
            raise DimensionError(f"updates are {updates}", f"they must be {PartialShape(wanted)}", UPDATES)
        chosen.append(common.closest_to(size))
    return tuple(chosen)


def require_one_number(axis: PartialShape, port: int) -> None:
    """Raise RankError if the input `axis` is neither a scalar nor of shape [1]."""
    if axis.dims is not None and not (axis.rank == 0 or (axis.rank == 1 and 1 in axis.dims[0])):
        raise RankError(f"axis has shape {axis}", "it must be a scalar or of shape [1]", port)


def require_same_rank(data: PartialShape, indices: PartialShape) -> None:
    """Raise RankError if data and indices have different ranks."""
    if data.rank is not None and indices.rank is not None and data.rank != indices.rank:
        raise RankError(
            f"data {data} has rank {data.rank}, indices {indices} has rank {indices.rank}",
            "data and indices must have the same rank",
            INDICES,
        )


def batch_dimensions(data: PartialShape, indices: PartialShape, batch: int) -> list[Dimension]:
    """Return the first `batch` dimensions, those of data intersected with those of indices. Raises DimensionError."""
    common = []
    for i, (have, want) in enumerate(zip((data.dims or ())[:batch], (indices.dims or ())[:batch], strict=False)):
        dim = have.intersect(want)
        if dim is None:
            raise DimensionError(
                f"dimension {i} is {have} in data {data} and {want} in indices {indices}",
                "the batch dimensions of data and indices must be the same",
                INDICES,
            )
        common.append(dim)
    return common
