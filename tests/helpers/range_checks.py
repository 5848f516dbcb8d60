"""Whether what was observed of a model keeps to what the analysis of ranges claims of its tensors and of its indices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.index_sites import Arrays, Site, Tensor

Terms = Sequence[tuple[Sequence[str], int]]
"""A polynomial: products of names, each with its coefficient."""


@dataclass(frozen=True)
class Bounds:
    """Numbers and polynomials that no element is below or above."""

    low: float
    high: float
    lows: Sequence[Terms] = ()
    highs: Sequence[Terms] = ()


@dataclass(frozen=True)
class Claim:
    """What is claimed of a tensor.

    Attributes:
        shape: by dimension a polynomial; None where the rank is not known.
        parts: an axis and the bounds of each slice along it; None where all have the same.
    """

    elements: Bounds
    shape: Sequence[Terms] | None = None
    parts: tuple[int, Sequence[Bounds]] | None = None
    may_be_nan: bool = True


@dataclass
class Names:
    """The values of names, such as "dim(x0, 1)", in one trial."""

    values: dict[str, int] = field(default_factory=dict)

    def set_bounds(self, claim: Claim, array: NDArray[Any]) -> None:
        """A dimension that is nothing but a name tells its value, if nothing has told that before."""
        if claim.shape is not None and len(claim.shape) == array.ndim:
            for dim, size in zip(claim.shape, array.shape, strict=True):
                if len(dim) == 1 and len(dim[0][0]) == 1 and dim[0][1] == 1:
                    self.values.setdefault(dim[0][0][0], size)

    def value(self, polynomial: Terms) -> int | None:
        """The number that a polynomial is; None where one of its names was not observed."""
        if any(name not in self.values for names, _ in polynomial for name in names):
            return None
        return sum(factor * prod(self.values[name] for name in names) for names, factor in polynomial)


def complaints(claim: Claim, array: NDArray[Any], names: Names) -> Iterator[str]:
    """Each way in which an array is none that was claimed."""
    if claim.shape is not None:
        if len(claim.shape) != array.ndim:
            yield f"has {array.ndim} dimensions, claimed are {len(claim.shape)}"
            return
        for axis, (dim, size) in enumerate(zip(claim.shape, array.shape, strict=True)):
            if names.value(dim) not in (None, size):
                yield f"dimension {axis} is {size}, claimed is {names.value(dim)} = {text(dim)}"
            if all(factor > 0 for _, factor in dim) and size < sum(factor for names, factor in dim if not names):
                yield f"dimension {axis} is {size}, claimed is {text(dim)}, and no size is negative"
    if array.dtype.kind == "f" and not claim.may_be_nan and np.isnan(array).any():
        yield "has NaN, claimed is none"
    yield from _outside(claim.elements, array, names, "")
    if claim.parts is not None:
        axis, bounds = claim.parts
        if array.shape[axis] != len(bounds):
            yield f"axis {axis} is of {array.shape[axis]}, claimed are bounds of {len(bounds)} slices"
            return
        for position, one in enumerate(bounds):
            yield from _outside(one, array.take(position, axis), names, f" in slice {position} along axis {axis}")


def _outside(bounds: Bounds, array: NDArray[Any], names: Names, where: str) -> Iterator[str]:
    numbers = array.view(np.uint8) if array.dtype == np.bool_ else array
    numbers = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
    if not numbers.size:
        return
    least, greatest = numbers.min().item(), numbers.max().item()
    for low, said in ((bounds.low, ""), *((names.value(low), f" = {text(low)}") for low in bounds.lows)):
        if low is not None and least < low:
            yield f"{least} is below {low}{said}{where}"
    for high, said in ((bounds.high, ""), *((names.value(high), f" = {text(high)}") for high in bounds.highs)):
        if high is not None and greatest > high:
            yield f"{greatest} is above {high}{said}{where}"


def text(polynomial: Terms) -> str:
    return " + ".join(" * ".join([str(factor), *names]) for names, factor in polynomial) or "0"


@dataclass(frozen=True)
class Verdict:
    """What is claimed of the indices of one site. `requires`: conditions on inputs and dimensions, as texts or numbers."""

    status: str
    requires: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    reason: str = ""


def complaint_of_site(verdict: Verdict, site: Site, seen: Arrays, *, is_within: bool) -> str:
    """What is wrong with a verdict in one trial; `is_within` says whether the inputs keep to its conditions."""
    outside = site.outside(seen)
    if outside is None or not outside.size:
        return ""
    index, data = seen[site.index], seen[site.data]
    if verdict.status == "refuted" and not outside.any():
        return f"refuted, but all indices {_some(index)} are in bounds of data {list(data.shape)}"
    if outside.any() and (verdict.status == "proved" or (verdict.status == "conditional" and is_within)):
        return f"{verdict.status}, but of indices {_some(index)} some are out of bounds of data {list(data.shape)}"
    return ""


def _some(array: NDArray[Any]) -> str:
    return f"{array.ravel()[:12].tolist()} {list(array.shape)}"


def claimed(claims: Mapping[Tensor, Claim], one: Tensor) -> str:
    """What is claimed of a tensor, for people."""
    claim = claims.get(one)
    if claim is None:
        return "nothing"
    bounds = claim.elements
    lows = " or ".join([str(bounds.low), *map(text, bounds.lows)])
    shape = "?" if claim.shape is None else f"[{', '.join(map(text, claim.shape))}]"
    return f"{lows} .. {' or '.join([str(bounds.high), *map(text, bounds.highs)])} {shape}{' NaN' if claim.may_be_nan else ''}"
