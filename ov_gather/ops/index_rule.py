"""Index rules: which input of an operation holds indices, what they address, and which of them are in bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ov_gather.ops.attribute import Attributes, Shapes
from ov_gather.ops.fields import check

Sizes = Callable[[Shapes, Attributes], tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class AxisSize:
    """The size of one axis of an input, which each index addresses; None while it is open.

    Attributes:
        axis: the number of the axis, or the name of the attribute, or of the input that acts as one, that holds it.
        data: position of the input.
    """

    axis: int | str = "axis"
    data: int = 0

    def __post_init__(self) -> None:
        """Raise OperationError for a field that is wrong."""
        check(self)

    def __call__(self, shapes: Shapes, attributes: Attributes) -> tuple[int, ...] | None:
        """Return the size as a 1-tuple."""
        dims, axis = shapes[self.data].dims, attributes.get(self.axis) if isinstance(self.axis, str) else self.axis
        if not dims or axis is None:
            return None
        dim = dims[axis % len(dims)]
        return (dim.lower,) if dim.is_static else None


@dataclass(frozen=True, slots=True)
class CoordinateSizes:
    """The sizes that tuples of coordinates, along the last dimension of indices, address; None while one is open.

    Attributes:
        port: position of the input that holds the tuples.
        batch_dims: name of the attribute with the number of leading dimensions that tuples skip; "" if they skip none.
        data: position of the input that they address.
    """

    port: int = 1
    batch_dims: str = ""
    data: int = 0

    def __post_init__(self) -> None:
        """Raise OperationError for a field that is wrong."""
        check(self)

    def __call__(self, shapes: Shapes, attributes: Attributes) -> tuple[int, ...] | None:
        """Return one size per coordinate."""
        data, indices = shapes[self.data], shapes[self.port]
        if data.dims is None or not indices.dims or not indices.dims[-1].is_static:
            return None
        skipped = attributes[self.batch_dims] if self.batch_dims else 0
        dims = data.dims[skipped:][: indices.dims[-1].lower]
        return tuple(dim.lower for dim in dims) if dims and all(dim.is_static for dim in dims) else None


@dataclass(frozen=True, slots=True)
class AttributeSize:
    """A size that an attribute holds, such as the number of segments."""

    attribute: str

    def __post_init__(self) -> None:
        """Raise OperationError for a field that is wrong."""
        check(self)

    def __call__(self, shapes: Shapes, attributes: Attributes) -> tuple[int, ...]:
        """Return the size as a 1-tuple."""
        return (attributes[self.attribute],)


@dataclass(frozen=True, slots=True)
class IndexRule:
    """The indices that an operation accepts.

    Attributes:
        port: position of the input that holds the indices.
        sizes: from shapes and attributes, the size s of the dimension that an index addresses, or one size per coordinate of a
            tuple; None while one is open. `prove` understands AxisSize, CoordinateSizes and AttributeSize only.
        specified: the range as the operation's specification states it, for people.
        lowest_specified: from s, the lowest index that the specification allows. The highest is s - 1.
        negative: what OpenVINO does with negative indices that the specification forbids; our kernel wraps them, as ONNX does.
            "" if the specification allows them.
        zero_fill: from the attributes, whether an index out of bounds yields zeros.
    """

    port: int
    sizes: Sizes = AxisSize()
    specified: str = "[-s, s-1]"
    lowest_specified: Callable[[Any], Any] = lambda size: -size
    negative: str = ""
    zero_fill: Callable[[Attributes], bool] = lambda attributes: False

    def __post_init__(self) -> None:
        """Raise OperationError for a field that is wrong."""
        check(self)
