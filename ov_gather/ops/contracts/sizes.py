"""Arithmetic of sizes that may be open, and shapes that two tensors have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ov_gather.ir.shapes import ANY, MAX_DIMENSION, Dimension, PartialShape
from ov_gather.ops.contracts.call import BadSizeError, Call

Dims = tuple[Dimension, ...]
MAX_RANK = 64
"""Shapes of more dimensions are not judged: no operator takes them, and each reader of one would cost its length."""


def exactly(size: int) -> Dimension:
    """Return the dimension of one size."""
    return Dimension(size, size)


def linear(dim: Dimension, times: int = 1, plus: int = 0, over: int = 1) -> Dimension:
    """Return (size * times + plus) // over for each size; below 0 is none. `times` is 0 or more, `over` 1 or more."""
    upper = None if dim.upper is None else _limited(max((dim.upper * times + plus) // over, 0))
    return Dimension(_limited(max((dim.lower * times + plus) // over, 0)), upper)


def total(dims: Iterable[Dimension]) -> Dimension:
    """Return the sum of dimensions."""
    lowers, uppers = zip(*((dim.lower, dim.upper) for dim in dims), strict=True)
    return Dimension(_limited(sum(lowers)), None if None in uppers else _limited(sum(uppers)))


def product(dims: Sequence[Dimension]) -> Dimension:
    """Return the product of dimensions; 1 if there are none."""
    lowers, uppers = [dim.lower for dim in dims], [dim.upper for dim in dims]
    if 0 in uppers:
        return exactly(0)
    return Dimension(_limited(prod(lowers)), None if None in uppers else _limited(prod(upper for upper in uppers if upper)))


def _limited(size: int) -> int:
    return min(size, MAX_DIMENSION)


def joined(one: Dimension, other: Dimension) -> Dimension | None:
    """Return the size that two dimensions broadcast to; None if they never fit."""
    if one == other:
        return one
    if one.is_static and one.lower != 1 and other.is_static and other.lower != 1:
        return None
    for fixed, free in ((one, other), (other, one)):
        if fixed == exactly(1):
            return free
        if fixed.is_static:
            return fixed if 1 in free or fixed.lower in free else None
    if 1 not in one and 1 not in other:
        return one.intersect(other)
    return _either(one, other)


def _either(one: Dimension, other: Dimension) -> Dimension:
    upper = None if one.upper is None or other.upper is None else max(one.upper, other.upper)
    return Dimension(min(one.lower, other.lower), upper)


def broadcast(one: PartialShape, other: PartialShape) -> PartialShape | None:
    """Return the shape that two shapes broadcast to, as NumPy does it; None if they never fit."""
    if one.dims is None or other.dims is None:
        return PartialShape(None)
    if one == other:
        return one
    longer, shorter = (one.dims, other.dims) if len(one.dims) >= len(other.dims) else (other.dims, one.dims)
    lead = len(longer) - len(shorter)
    found = [joined(*pair) for pair in zip(longer[lead:], shorter, strict=True)]
    return None if None in found else PartialShape((*longer[:lead], *(dim for dim in found if dim is not None)))


def open_shape(rank: int | None) -> PartialShape:
    """Return the shape of a rank whose sizes are open."""
    return PartialShape(None if rank is None or rank > MAX_RANK else (ANY,) * rank)


def of_few(shape: PartialShape) -> PartialShape:
    """Return the shape, or an open one if it has more than MAX_RANK dimensions."""
    return PartialShape(None) if shape.dims is not None and len(shape.dims) > MAX_RANK else shape


class NamedSizes(dict[str, Dimension]):
    """The sizes of a layer's inputs by name, as far as they are known. A name that is a number is this size."""

    def __missing__(self, name: str) -> Dimension:
        return exactly(int(name)) if name.isdecimal() else ANY

    def fit(self, call: Call, port: int, what: str, *names: str) -> None:
        """Compare an input with the sizes, and learn from it. Raises BadRankError, BadSizeError."""
        call.has_rank(port, what, len(names))
        for place, (name, dim) in enumerate(zip(names, call.dims(port) or (), strict=False)):
            known = self[name]
            both = dim if known is ANY or known == dim else known.intersect(dim)
            if both is None:
                wanted = f"it is {name}" if name.isdecimal() else f"{name} is {known}"
                raise BadSizeError(f"dimension {place} of {what} is {dim}", wanted, port)
            self[name] = both

    def shape(self, *names: str) -> PartialShape:
        """Return a shape of these sizes."""
        return PartialShape(tuple(self[name] for name in names))
