"""Choices of sizes for the open dimensions of an ONNX model. There are several, as no single size suits every model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir

from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION

_CHOICES = (
    # batch, channels, height or width of an image, any other
    (OPEN_DIMENSION, 3, 64, OPEN_DIMENSION),
    (1, 3, 224, OPEN_DIMENSION),
    (OPEN_DIMENSION, OPEN_DIMENSION, OPEN_DIMENSION, OPEN_DIMENSION),
    (2, 3, 320, 128),
    (1, 1, 32, 32),
    (1, 3, 640, 512),
    (2, 3, 48, 576),
    (1, 1, 28, 1),
    (1, 3, 1, 16_000),
    (32, 32, 32, 32),
    (1, 1, 1, 1),
)
_BATCH, _CHANNELS, _SIDE, _OTHER = range(4)
_COLOURS = (1, 3, 4)

Dim = int | onnx_ir.SymbolicDim


@dataclass(frozen=True)
class DynamicSizes:
    """One choice of sizes: the shape of each input by name, and the size of each open dimension by its name or place."""

    shapes: Mapping[str, tuple[int, ...]]
    named: Mapping[str, int]

    def smallest(self, value: onnx_ir.Value) -> tuple[int, ...]:
        """Return the shape of a value; dimensions that this choice does not determine are 1."""
        if (known := self.shapes.get(str(value.name))) is not None:
            return known
        return tuple(self.named.get(str(dim), 1) if (size := closed(dim)) is None else size for dim in value.shape or ())


def choices(inputs: Sequence[onnx_ir.Value]) -> Iterator[DynamicSizes]:
    """Yield distinct choices of sizes, the most likely first. Every input must have a known rank.

    Dimensions of the same name get the same size. A name that is an expression ("past + new") is evaluated. Unnamed dimensions
    with the same role (batch, channels, ...) get the same size.
    """
    parts: dict[str, int] = {}
    dims: dict[str, Dim] = {}
    for value in inputs:
        for axis, dim in enumerate(value.shape or ()):
            if closed(dim) is None:
                parts.setdefault(_key(value, axis), _part(value, axis))
                dims.setdefault(_key(value, axis), dim)
    seen = []
    for choice in _CHOICES:
        sizes = {key: choice[part] for key, part in parts.items()}
        sizes |= {key: size for key, dim in dims.items() if (size := _computed(dim, key, sizes)) is not None}
        if sizes not in seen:
            seen.append(sizes)
            yield DynamicSizes({str(value.name): _shape(value, sizes) for value in inputs}, sizes)


def closed(dim: Dim) -> int | None:
    """Return the static size of a dimension; None if it is open, which some exporters write as -1."""
    return dim if isinstance(dim, int) and dim >= 0 else None


def _shape(value: onnx_ir.Value, sizes: Mapping[str, int]) -> tuple[int, ...]:
    known = (closed(dim) for dim in value.shape or ())
    return tuple(sizes[_key(value, axis)] if size is None else size for axis, size in enumerate(known))


def _key(value: onnx_ir.Value, axis: int) -> str:
    """Return the symbolic name of a dimension; its axis and input if it has no name."""
    dim = (value.shape or ())[axis]
    name = None if isinstance(dim, int) else dim.value
    return name or f"{axis} of {value.name}"


def _part(value: onnx_ir.Value, axis: int) -> int:
    """Guess the role of a dimension from its axis and from the rank and type of its input."""
    dims = tuple(value.shape or ())
    is_picture = len(dims) > 3 and value.dtype is not None and value.dtype.is_floating_point()
    if axis == 0 and len(dims) > 1:
        return _BATCH
    if not is_picture:
        return _OTHER
    channels = len(dims) - 1 if closed(dims[-1]) in _COLOURS and closed(dims[1]) is None else 1
    return _CHANNELS if axis == channels else _SIDE


def _computed(dim: Dim, name: str, sizes: Mapping[str, int]) -> int | None:
    """Evaluate a symbolic name that is an expression of other names; None if it is not."""
    if isinstance(dim, int) or name.isidentifier():  # cheap test first, as expressions are parsed with sympy
        return None
    try:
        if not (symbols := dim.free_symbols()) or name in symbols or not symbols <= sizes.keys():
            return None
        result = dim.evaluate(sizes)
    except ValueError:  # the name is no expression
        return None
    return result if isinstance(result, int) and result >= 0 else None
