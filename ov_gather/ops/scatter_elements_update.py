"""ScatterElementsUpdate: output[i][indices[i][j][k]][k] = updates[i][j][k] for rank 3 and axis 1; inverse of GatherElements.

Version 12 adds reductions, and its specification allows negative indices. ScatterElements of our opset is ONNX
ScatterElements-18: updates apply in order, and every index is checked.
"""

from __future__ import annotations

from dataclasses import replace

from ov_gather.ir.shapes import PartialShape
from ov_gather.kernels.reduction_names import ONNX_NAMES, OPENVINO_NAMES
from ov_gather.ops.scatter_lanes import with_lanes
from ov_gather.ops.shape_rules import (
    AXIS_INPUT,
    DATA,
    FIRST_SCATTER_INDICES,
    INDICES,
    SCATTER_INPUTS,
    UPDATES,
    axis_of_data,
    in_our_opset,
    open_dims,
    reduces,
    referenced,
    refuse_scalars,
    require_one_number,
    require_same_rank,
    type_of_data_and_updates,
)
from ov_gather.ops.spec import (
    Arrays,
    Attribute,
    Attributes,
    DimensionError,
    IndexRule,
    Operation,
    RankError,
    Shapes,
    numbered_opsets,
    require_axis,
)

AXIS = 3
_AXIS_SHAPE = PartialShape.of(())


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape, which is data's. Raises RankError, DimensionError."""
    data, indices, updates, axis = shapes
    require_one_number(axis, AXIS)
    if "axis" in attributes:
        require_axis(attributes["axis"], PartialShape.of((1,)) if data.rank == 0 else data, DATA)
    require_same_rank(data, indices)
    if indices.dims is not None and updates.dims is not None:
        fit = len(indices.dims) == len(updates.dims) and all(
            want.intersect(have) for want, have in zip(indices.dims, updates.dims, strict=True)
        )
        if not fit:
            raise DimensionError(f"updates {updates} have not the shape of indices {indices}", "make them the same", UPDATES)
    return (data,)


def restrict(shapes: Shapes, attributes: Attributes) -> None:
    """Raise DimensionError if indices exceed data off the axis: OpenVINO accepts that, and writes past rows."""
    data, indices = shapes[DATA], shapes[INDICES]
    axis = attributes.get("axis")
    if axis is None or data.dims is None or indices.dims is None:
        return
    for i, (have, want) in enumerate(zip(data.dims, indices.dims, strict=True)):
        if i != axis % len(data.dims) and have.upper is not None and want.lower > have.upper:
            raise DimensionError(
                f"dimension {i} is {have} in data {data} and {want} in indices {indices}",
                f"off the axis ({axis % len(data.dims)}) indices may not exceed data",
                INDICES,
            )


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions: updates like indices, which do not exceed data off the axis. An unknown axis counts as the last."""
    infer_shapes(shapes, attributes)
    ranks = [shape.rank for shape in shapes[:AXIS] if shape.rank is not None]
    axis = attributes.get("axis", -1)
    rank = ranks[0] if ranks else max(2, axis + 1, -axis)
    data, indices, updates = (open_dims(shape, rank) for shape in shapes[:AXIS])
    common = [want.intersect(have) or want for want, have in zip(indices, updates, strict=True)]
    sizes = tuple(dim.closest_to(max(size, want.lower)) for dim, want in zip(data, common, strict=True))
    along = axis % rank if rank else 0
    chosen = tuple(dim.closest_to(size if i == along else min(size, sizes[i])) for i, dim in enumerate(common))
    return sizes, chosen, chosen, tuple(1 for _ in shapes[AXIS].dims or ())


def infer_our_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape of ours; indices may not exceed data off the axis. Raises RankError, DimensionError."""
    data, indices, updates = shapes
    refuse_scalars("ScatterElements", shapes)
    for port, shape in enumerate(shapes):
        require_axis(attributes["axis"], shape, port)
    output = infer_shapes((*shapes, _AXIS_SHAPE), attributes)
    for given in (indices, updates):
        if data.rank is not None and given.rank is not None and given.rank != data.rank:
            raise RankError(f"data {data} has rank {data.rank}, updates {updates}", "the ranks must be the same", UPDATES)
        restrict((data, given, updates), attributes)
    return output


def choose_our_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions of ours, like `choose_sizes`."""
    infer_our_shapes(shapes, attributes)
    return choose_sizes((*shapes, _AXIS_SHAPE), attributes, size)[:-1]


def custom_version(attributes: Attributes) -> tuple[str, Attributes] | None:
    """Return our ScatterElements; None if it lacks the reduction, or the axis (an attribute there) is unknown."""
    reduction = ONNX_NAMES.get(attributes.get("reduction", "none"))
    if reduction is None or not attributes.get("use_init_val", True) or "axis" not in attributes:
        return None
    return "ScatterElements", {"axis": attributes["axis"], "reduction": reduction}


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds."""
    from ov_gather.kernels.arguments import as_index_dtype
    from ov_gather.kernels.scatter_elements import scatter_elements

    output = scatter_elements(
        inputs[DATA],
        as_index_dtype(inputs[INDICES]),
        inputs[UPDATES],
        attributes["axis"],
        reduction=attributes.get("reduction", "none"),
        use_init_val=attributes.get("use_init_val", True),
    )
    return (output,)


SCATTER_ELEMENTS_UPDATE_3 = Operation(
    name="ScatterElementsUpdate-3",
    type="ScatterElementsUpdate",
    opsets=numbered_opsets(3, 11),
    inputs=(*SCATTER_INPUTS, AXIS_INPUT),
    infer_types=type_of_data_and_updates,
    infer_shapes=infer_shapes,
    restrict=restrict,
    index_rule=FIRST_SCATTER_INDICES,
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=referenced("scatter_elements"),
    adds_up=reduces,
    custom_version=custom_version,
)
SCATTER_ELEMENTS_UPDATE_12 = replace(
    SCATTER_ELEMENTS_UPDATE_3,
    name="ScatterElementsUpdate-12",
    opsets=numbered_opsets(12),
    attributes=(
        Attribute("reduction", default="none", kind="none|sum|prod|min|max|mean"),
        Attribute("use_init_val", default=True, kind="bool"),
    ),
    index_rule=IndexRule(INDICES),
)
SCATTER_ELEMENTS_CUSTOM = with_lanes(
    in_our_opset(
        replace(
            SCATTER_ELEMENTS_UPDATE_12,
            inputs=SCATTER_ELEMENTS_UPDATE_12.inputs[:AXIS],
            attributes=(
                Attribute("axis", default=0, valid_range=axis_of_data),
                Attribute("reduction", default="none", kind="|".join(OPENVINO_NAMES)),
            ),
        ),
        "ScatterElements",
        infer_shapes=infer_our_shapes,
        restrict=lambda shapes, attributes: None,
        choose_sizes=choose_our_sizes,
    )
)
