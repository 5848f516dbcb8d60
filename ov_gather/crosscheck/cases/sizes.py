"""Sizes for the open dimensions of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ov_gather.ir.shapes import Dimension, PartialShape, element_count
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import ShapeError

OPEN_DIMENSION = 6
"""Default size of an open dimension, before it is clamped to the dimension's bounds."""
LONG, LONGEST = 1021, 70_001
"""Sizes of the long dimension of large cases, longer than the blocks that kernels process; LONGEST is for inputs of rank 1."""
LARGE = 1 << 17
"""Approximate number of elements in a large case: enough work for several threads."""
MAX_LARGE = 1 << 20

Sizes = tuple[tuple[int, ...], ...]


def choose(view: LayerView, kind: str, attributes: Mapping[str, Any]) -> Sizes | None:
    """Return sizes for every input of the operation; None if there are no valid ones.

    `kind` is the size of open dimensions, "some", "one" or "none" (0), or the open dimension to make long, "first" or "last".
    """
    if kind in ("first", "last"):
        return _large(view, -1 if kind == "last" else 0, attributes)
    return _chosen(view, view.input_shapes, attributes, {"one": 1, "none": 0}.get(kind, OPEN_DIMENSION))


def _chosen(view: LayerView, shapes: Sequence[PartialShape], attributes: Mapping[str, Any], size: int) -> Sizes | None:
    try:
        sizes = view.operation.choose_sizes(shapes, attributes, size)
        shapes = [PartialShape.of(chosen) for chosen in sizes]
        view.operation.infer_shapes(shapes, attributes)
        view.operation.restrict(shapes, attributes)
    except (ShapeError, IndexError):
        return None
    declared = zip(sizes, view.input_shapes, strict=True)
    return sizes if all(chosen in shape for chosen, shape in declared) else None


def _large(view: LayerView, which: int, attributes: Mapping[str, Any]) -> Sizes | None:
    """Choose sizes with the long dimension in every input or, if that is invalid or exceeds MAX_LARGE, in a single one."""
    rank = max(shape.rank or 0 for shape in view.input_shapes)
    long, others = (LONGEST, 1) if rank == 1 else (LONG, max(2, int((LARGE / LONG) ** (1 / max(rank - 1, 1)))))
    ports = range(len(view.input_shapes))
    rule = view.operation.index_rule
    for chosen in (set(ports), {0}, *([{rule.port}] if rule else [])):
        shapes = [_stretched(shape, which, long) if port in chosen else shape for port, shape in enumerate(view.input_shapes)]
        sizes = _chosen(view, shapes, attributes, others)
        if sizes:
            (output, *_) = view.operation.infer_shapes([PartialShape.of(chosen) for chosen in sizes], attributes)
            if max(map(element_count, (*sizes, output.sizes))) <= MAX_LARGE:
                return sizes
    return None


def _stretched(shape: PartialShape, which: int, long: int) -> PartialShape:
    """Set the first or last open dimension to `long`, clamped to its bounds."""
    dims = list(shape.dims or ())
    places = [i for i, dim in enumerate(dims) if not dim.is_static]
    if places:
        size = dims[places[which]].closest_to(long)
        dims[places[which]] = Dimension.of(size)
    return shape if shape.dims is None else PartialShape(tuple(dims))
