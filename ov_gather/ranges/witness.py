"""Witnesses of refuted sites: an index out of bounds, the axis size, and our kernel's error for them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.intervals import Algebra
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.sites import BoundsCheck

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Witness:
    """An index that is out of bounds, with the error that it raises.

    Attributes:
        index: the index; each run has this one or one farther out of bounds.
        size: the size of the axis; for a dynamic one its lower bound, but at least 1 if the model allows it.
        error: the message of the IndexError that our kernel raises, with the place of the index if it is a constant.
    """

    index: int
    size: int
    error: str


def witness_of(
    algebra: Algebra, demand: BoundsCheck, constant: NDArray[Any] | None = None, coordinate: int | None = None
) -> Witness:
    """Run our kernel on an index that violates the check. Raises AssertionError if the kernel accepts it.

    Args:
        constant: the indices, if they are a constant.
        coordinate: the position in the tuples of indices that the check is of, if they are tuples.
    """
    least = {symbol: Polynomial.constant(_small(algebra.sizes, symbol)) for symbol in _symbols(demand)}
    size = max(demand.size.with_values(least).value or 0, 0)
    index = _index(algebra, demand, least)
    return Witness(index, size, _error(demand, index, size, _named(index, constant, coordinate)))


def _named(index: int, constant: NDArray[Any] | None, coordinate: int | None) -> str:
    """Return the index with its first place in a constant, such as "indices[1, 2] = 99"; "index 99" if it is computed."""
    if constant is None:
        return f"index {index}"
    import numpy as np

    places = np.argwhere((constant if coordinate is None else constant[..., coordinate]) == index)
    if not len(places):
        return f"index {index}"
    place = [*map(int, places[0]), *([] if coordinate is None else [coordinate])]
    return f"indices{place if place else ''} = {index}"


def _symbols(demand: BoundsCheck) -> set[Symbol]:
    bounds = (demand.size, *demand.indices.lows, *demand.indices.highs)
    return {symbol for bound in bounds for symbol in bound.symbols}


def _small(sizes: Sizes, symbol: Symbol) -> int:
    low, high = sizes.of(symbol)
    return low if high < 1 else max(low, 1)


def _index(algebra: Algebra, demand: BoundsCheck, least: dict[Symbol, Polynomial]) -> int:
    """Return an index that is certainly out of bounds: the tightest bound of the least or the greatest index."""
    is_below = demand.is_below(algebra)
    number, bounds = (demand.least.high, demand.least.highs) if is_below else (demand.greatest.low, demand.greatest.lows)
    found = [value for bound in bounds if (value := bound.with_values(least).value) is not None]
    found += [int(number)] if number not in (inf, -inf) else []
    return (min if is_below else max)(found, default=0)


def _error(demand: BoundsCheck, index: int, size: int, named: str) -> str:
    import numpy as np  # imported late: few models have a refuted site

    from ov_gather.kernels.gather import gather

    if index < 0 and not demand.counts_from_end:
        return f"{named} is out of bounds for axis {demand.axis} of size {size}: the operation counts none from the end"
    data = np.empty((*(1,) * demand.axis, size, 0), np.int8)  # no memory, however long the axis
    try:
        gather(data, np.array([index]), demand.axis)
    except IndexError as error:
        return str(error).replace(f"indices[0] = {index}", named)
    raise AssertionError(
        f"the analysis says that index {index} is out of bounds for axis {demand.axis} of size {size}, but our kernel "
        "takes it: this is a fault of ov-gather; report it"
    )
