"""GatherElements-6: out[i][j][k] = data[i][indices[i][j][k]][k] for rank 3 and axis 1."""

from __future__ import annotations

from collections.abc import Callable

from ov_gather.ir.element_types import I32, I64
from ov_gather.ir.shapes import UNKNOWN, Dimension, PartialShape
from ov_gather.ops.shape_rules import (
    DATA,
    FIRST_GATHER_INDICES,
    INDICES,
    open_dims,
    referenced,
    refuse_scalars,
    require_same_rank,
)
from ov_gather.ops.spec import (
    MAX_RANK,
    Arrays,
    Attribute,
    Attributes,
    DimensionError,
    Input,
    Operation,
    Shapes,
    numbered_opsets,
    require_axis,
)

OffAxis = Callable[[Dimension, Dimension], Dimension | None]


def rank_of(shapes: Shapes) -> int | None:
    """Return the rank that data and indices share, from whichever input has a known rank."""
    return shapes[DATA].rank if shapes[DATA].rank is not None else shapes[INDICES].rank


def axis_range(shapes: Shapes) -> tuple[int, int] | None:
    """Return the valid range of the attribute axis, [-r, r-1]; None while the rank is open."""
    rank = rank_of(shapes)
    return None if not rank else (-rank, rank - 1)


def infer_output(shapes: Shapes, axis: int, off_axis: OffAxis, rule: str) -> tuple[PartialShape]:
    """Infer the output shape: indices' size along the axis, `off_axis(data's, indices')` in every other dimension.

    Raises RankError; DimensionError, with `rule` as its hint, if `off_axis` returns None.
    """
    data, indices = shapes
    refuse_scalars("GatherElements", shapes)
    require_same_rank(data, indices)
    require_axis(axis, data, DATA)
    rank = rank_of(shapes)
    if rank is None:
        return (UNKNOWN,)
    output = []
    for i, (have, want) in enumerate(zip(open_dims(data, rank), open_dims(indices, rank), strict=True)):
        dim = want if i == axis % rank else off_axis(have, want)
        if dim is None:
            raise DimensionError(
                f"dimension {i} is {have} in data {data} and {want} in indices {indices}",
                f"off the axis ({axis % rank}) {rule}",
                INDICES,
            )
        output.append(dim)
    return (PartialShape(tuple(output)),)


def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape]:
    """Infer the output shape: indices' shape, intersected with data's off the axis. Raises RankError, DimensionError."""
    rule = "GatherElements-6 takes data and indices of equal dimensions, unlike ONNX"
    return infer_output(shapes, attributes["axis"], Dimension.intersect, rule)


def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Fill open dimensions; off the axis, data and indices get the same sizes."""
    (output,) = infer_shapes(shapes, attributes)
    rank = output.rank or rank_for(attributes["axis"])
    axis = attributes["axis"] % rank
    indices = tuple(dim.closest_to(size) for dim in open_dims(output, rank))
    along_axis = open_dims(shapes[DATA], rank)[axis].closest_to(size)
    return (*indices[:axis], along_axis, *indices[axis + 1 :]), indices


def rank_for(axis: int) -> int:
    """Return a rank for which `axis` is valid, if the shapes leave it open. Raises ValueError beyond NumPy's maximum rank."""
    rank = max(2, axis + 1, -axis)
    if rank > MAX_RANK:
        raise ValueError(f"axis {axis} needs a rank of {rank} or more; NumPy arrays have at most {MAX_RANK}")
    return rank


def evaluate(inputs: Arrays, attributes: Attributes) -> Arrays:
    """Execute the operation on our kernel. Raises IndexError for an index out of bounds."""
    from ov_gather.kernels.gather_elements import gather_elements

    return (gather_elements(inputs[DATA], inputs[INDICES], attributes["axis"]),)


GATHER_ELEMENTS_6 = Operation(
    name="GatherElements-6",
    type="GatherElements",
    opsets=numbered_opsets(6),
    attributes=(Attribute("axis", required=True, default=0, valid_range=axis_range),),
    inputs=(Input("data"), Input("indices", (I32, I64), assumed=I64)),
    infer_shapes=infer_shapes,
    # The specification says [0, s-1]. ONNX and our kernel wrap negative indices, and so does the CPU plugin since 2025.3.
    index_rule=FIRST_GATHER_INDICES,
    choose_sizes=choose_sizes,
    evaluate=evaluate,
    reference=referenced("gather_elements"),
    custom_version=lambda attributes: ("GatherElements", attributes),
)
