"""The attribute `lanes` of our scatters: 64-bit and complex numbers passed as i32 lanes along an extra last dimension.

Data and updates have that dimension: 2 lanes a number, 4 for complex128.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.shape_rules import DATA, UPDATES
from ov_gather.ops.spec import Arrays, Attribute, Attributes, AxisSize, Compute, DimensionError, Operation, Shapes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DTYPES = {"i64": "int64", "u64": "uint64", "f64": "float64", "c64": "complex64", "c128": "complex128"}


def with_lanes(operation: Operation) -> Operation:
    """Add the attribute `lanes`, which names the type of the numbers, to an operation of data, indices and updates."""

    def infer_shapes(shapes: Shapes, attributes: Attributes) -> tuple[PartialShape, ...]:
        operation.infer_shapes(_of_numbers(shapes, attributes), attributes)
        return (shapes[DATA],)

    def choose_sizes(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
        data, indices, updates = operation.choose_sizes(_of_numbers(shapes, attributes), attributes, size)
        lanes = (_count(attributes),) if _has_lanes(attributes) else ()
        return ((*data, *lanes), indices, (*updates, *lanes))

    def on_numbers(compute: Compute) -> Compute:
        def compute_lanes(inputs: Arrays, attributes: Attributes) -> Arrays:
            if not _has_lanes(attributes):
                return compute(inputs, attributes)
            data, indices, updates = inputs
            (output,) = compute([numbers_of(data, attributes), indices, numbers_of(updates, attributes)], attributes)
            return (output.reshape(-1).view(data.dtype).reshape(data.shape),)

        return compute_lanes

    rule = operation.index_rule
    return replace(
        operation,
        attributes=(
            *operation.attributes,
            Attribute("lanes", default="none", kind="|".join(["none", *_DTYPES])),
        ),
        infer_shapes=infer_shapes,
        choose_sizes=choose_sizes,
        index_rule=rule and replace(rule, sizes=_AxisSizeOfNumbers() if isinstance(rule.sizes, AxisSize) else rule.sizes),
        evaluate=operation.evaluate and on_numbers(operation.evaluate),
        reference=on_numbers(operation.reference),
    )


class _AxisSizeOfNumbers(AxisSize):
    """The size of an axis of data, which does not count lanes as a dimension."""

    def __call__(self, shapes: Shapes, attributes: Attributes) -> tuple[int, ...] | None:
        """Return the size as a 1-tuple."""
        return super().__call__(_of_numbers(shapes, attributes), attributes)


def _has_lanes(attributes: Attributes) -> bool:
    return bool(attributes.get("lanes", "none") != "none")


def _count(attributes: Attributes) -> int:
    """Return the number of lanes per number."""
    return 4 if attributes["lanes"] == "c128" else 2


def _of_numbers(shapes: Shapes, attributes: Attributes) -> Shapes:
    """Drop the lane dimension of data and updates. Raises DimensionError if it does not have the right size."""
    if not _has_lanes(attributes):
        return shapes
    found, count = list(shapes), _count(attributes)
    for port in (DATA, UPDATES):
        dims = shapes[port].dims
        if dims is None:
            continue
        if not dims or count not in dims[-1]:
            reason = f"the last dimension of {shapes[port]} is not {count}"
            raise DimensionError(reason, f"with lanes={attributes['lanes']} it holds the {count} i32 of a number", port)
        found[port] = PartialShape(dims[:-1])
    return tuple(found)


def numbers_of(array: NDArray[Any], attributes: Attributes) -> NDArray[Any]:
    """Reinterpret an array of lanes as numbers; return the array itself if the layer has no lanes."""
    import numpy as np

    dtype = _DTYPES.get(attributes.get("lanes", "none"))
    return array if dtype is None else np.ascontiguousarray(array).reshape(-1).view(dtype).reshape(array.shape[:-1])


def are_nan(array: NDArray[Any], attributes: Attributes) -> NDArray[np.bool_]:
    """Return a mask of the elements of an array of floats that are NaN, or lanes of a real or imaginary part that is NaN."""
    import numpy as np

    real = numbers_of(array, attributes).real.dtype
    parts = np.isnan(np.ascontiguousarray(array).reshape(-1).view(real))
    return np.repeat(parts, array.size // max(1, parts.size)).reshape(array.shape)
