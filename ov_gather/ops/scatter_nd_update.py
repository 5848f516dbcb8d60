"""ScatterNDUpdate: output[*indices[i]] = updates[i], with coordinates in the last dimension of indices; inverse of GatherND.

Version 15 adds reductions, and its specification allows negative indices. ScatterND of our opset is ONNX ScatterND-18: updates
apply in order, and every coordinate is checked.
"""

from __future__ import annotations

from dataclasses import replace

from ov_gather.ir.element_types import I32, I64
from ov_gather.ir.shapes import ANY, PartialShape
from ov_gather.kernels.reduction_names import ONNX_NAMES, OPENVINO_NAMES
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.shape_rules import (
    DATA,
    FIRST_SCATTER_INDICES,
    INDICES,
    UPDATES,
    in_our_opset,
    open_dims,
    reduces,
    referenced,
    refuse_scalars,
    sizes_of_updates,
    type_of_data_and_updates,
)
from ov_gather.ops.spec import (
    Arrays,
    Attribute,
    Attributes,
    CoordinateSizes,
    DimensionError,
    IndexRule,
    Input,
    Operation,
    RankError,
    Shapes,
    numbered_opsets,
)


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, which is data's. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    refuse_scalars("ScatterNDUpdate", shapes[:UPDATES])
    if data.dims is None or indices.dims is None or not indices.dims[-1].is_static:
        return (data,)
    depth = indices.dims[-1].lower
    if depth > len(data.dims):
        raise DimensionError(
            f"tuples of {depth} coordinates exceed the rank of data {data}",
            "the last dimension of indices is at most data's rank",
            INDICES,
        )
    wanted = PartialShape((*indices.dims[:-1], *data.dims[depth:]))
    if wanted.dims and updates.intersect(wanted) is None:
        fits = updates.rank == wanted.rank
        raise (DimensionError if fits else RankError)(
            f"updates {updates} do not fit data {data} and indices {indices}", f"make them {wanted}", UPDATES
        )
    return (data,)


def infer_our_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape of ours; the update of one element must be a scalar. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    output = infer_shapes(shapes, attributes)
    if indices.rank == 1 and indices.sizes == (data.rank,) and updates.rank:
        raise RankError(f"updates {updates} have a rank of {updates.rank}", "the update of one element is a scalar", UPDATES)
    return output


def restrict(shapes: Shapes, attributes: Attributes) -> None:
    """Raise DimensionError if a single tuple that names one element has several updates, which OpenVINO does not check."""
    data, indices, updates = shapes
    names_one = indices.rank == 1 and indices.sizes == (data.rank,)
    if names_one and updates.dims and not all(1 in dim for dim in updates.dims):
        raise DimensionError(f"updates {updates} have several elements for one place", "make them a scalar", UPDATES)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions, so that updates fit indices and data. A tuple has one coordinate if the ranks allow it."""
    infer_shapes(shapes, attributes)
    rank, index_rank, depth = _ranks(shapes)
    if index_rank < 1 or rank < max(1, depth):
        raise RankError(f"no data fits indices {shapes[INDICES]} and updates {shapes[UPDATES]}", "correct their ranks", DATA)
    data, tuples = open_dims(shapes[DATA], rank), open_dims(shapes[INDICES], index_rank)[:-1]
    wanted, spare = (*tuples, *data[depth:]), shapes[UPDATES].rank or 0
    chosen = sizes_of_updates(wanted, shapes[UPDATES], size) if wanted else ()
    return (
        (*(dim.closest_to(size) for dim in data[:depth]), *chosen[len(tuples) :]),
        (*chosen[: len(tuples)], depth),
        chosen or (1,) * spare,
    )


def _ranks(shapes: Shapes) -> tuple[int, int, int]:
    """Choose ranks of data and indices, and the number of coordinates, that fit updates."""
    data, indices, updates = (shape.rank for shape in shapes)
    dim = (shapes[INDICES].dims or (ANY,))[-1]
    if data is not None and indices is not None and updates is not None:
        return data, indices, dim.closest_to(max(0, data + indices - 1 - updates))
    depth = dim.closest_to(1)
    if indices is None:
        indices = 2 if updates is None else min(2, updates + 1) if data is None else updates - (data - depth) + 1
    if data is None:
        data = depth + 1 if updates is None else depth + updates - (indices - 1)
    return data, indices, depth


def custom_version(attributes: Attributes) -> tuple[str, Attributes] | None:
    """Return our ScatterND; None if it lacks the reduction."""
    reduction = ONNX_NAMES.get(attributes.get("reduction", "none"))
    return None if reduction is None else ("ScatterND", {"reduction": reduction})


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for a coordinate out of bounds."""
    import numpy as np

    from ov_gather.kernels.scatter_nd import scatter_nd

    data, indices, updates = inputs
    updates = updates.reshape(indices.shape[:-1] + data.shape[indices.shape[-1] :])  # one element's update may have any rank
    reduction = attributes.get("reduction", "none")
    if reduction != "sub":
        return (scatter_nd(data, indices, updates, reduction=reduction),)
    if data.dtype == bool:  # "sub" of booleans is exclusive or, the parity of the sum.
        sums = scatter_nd(data.astype(np.uint8), indices, updates.astype(np.uint8), reduction="add")
        return ((sums & 1).astype(bool),)
    return (scatter_nd(data, indices, np.negative(updates), reduction="add"),)


SCATTER_ND_UPDATE_3 = Operation(
    name="ScatterNDUpdate-3",
    type="ScatterNDUpdate",
    opsets=numbered_opsets(4, 14),
    inputs=(
        Input("data"),
        Input("indices", (I32, I64), assumed=I64),
        Input("updates"),
    ),
    infer_types=type_of_data_and_updates,
    infer_shapes=infer_shapes,
    restrict=restrict,
    index_rule=replace(FIRST_SCATTER_INDICES, sizes=CoordinateSizes(INDICES)),
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=referenced("scatter_nd"),
    adds_up=reduces,
    custom_version=custom_version,
)
SCATTER_ND_UPDATE_15 = replace(
    SCATTER_ND_UPDATE_3,
    name="ScatterNDUpdate-15",
    opsets=numbered_opsets(15),
    attributes=(Attribute("reduction", default="none", kind="none|sum|sub|prod|min|max"),),
    index_rule=IndexRule(INDICES, CoordinateSizes(INDICES)),
)
SCATTER_ND_CUSTOM = with_lanes(
    in_our_opset(
        SCATTER_ND_UPDATE_15,
        "ScatterND",
        attributes=(Attribute("reduction", default="none", kind="|".join(OPENVINO_NAMES)),),
        infer_shapes=infer_our_shapes,
        restrict=lambda shapes, attributes: None,
    )
)
