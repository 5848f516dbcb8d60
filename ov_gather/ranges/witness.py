"""A refuted site has a witness: an index that occurs, on an axis of a size that occurs, and what our kernel says of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ov_gather.ranges.algebra.intervals import Algebra
from ov_gather.ranges.algebra.polynomials import Polynomial
from ov_gather.ranges.algebra.sizes import Sizes
from ov_gather.ranges.sites import Demand


@dataclass(frozen=True)
class Witness:
    """A Witness shows that an index is out of bounds.

    Attributes:
        index: an index that every run has, or one beyond it.
        size: the size of the axis; of an open one the least that there may be, but 1 rather than 0.
        error: the message of the IndexError that our kernel raises for them.
    """

    index: int
    size: int
    error: str


def witness_of(algebra: Algebra, demand: Demand) -> Witness:
    """Execute our kernel on an index that misses a demand. Raises AssertionError where the kernel takes the index."""
    least = {name: Polynomial.constant(_small(algebra.sizes, name)) for name in _names(demand)}
    size = max(demand.size.with_values(least).value or 0, 0)
    index = _index(algebra, demand, least)
    return Witness(index, size, _error(demand, index, size))


def _names(demand: Demand) -> set[str]:
    bounds = (demand.size, *demand.indices.lows, *demand.indices.highs)
    return {name for bound in bounds for name in bound.names}


def _small(sizes: Sizes, name: str) -> int:
    """Give the least size that a dimension may have, but 1 rather than 0."""
    low, high = sizes.of(name)
    return low if high < 1 else max(low, 1)


def _index(algebra: Algebra, demand: Demand, least: dict[str, Polynomial]) -> int:
    """Give the index that misses the demand by the least that is known."""
    is_below = demand.is_below(algebra)
    number, bounds = (demand.least.high, demand.least.highs) if is_below else (demand.greatest.low, demand.greatest.lows)
    found = [value for bound in bounds if (value := bound.with_values(least).value) is not None]
    found += [int(number)] if number not in (inf, -inf) else []
    return (min if is_below else max)(found, default=0)


def _error(demand: Demand, index: int, size: int) -> str:
    import numpy as np  # imported late, because most models have no refuted site

    from ov_gather.kernels.gather import gather

    if index < 0 and not demand.counts_from_end:
        return f"index {index} is out of bounds for axis {demand.axis} of size {size}: the operation counts none from the end"
    data = np.empty((*(1,) * demand.axis, size, 0), np.int8)  # which takes no memory, however long the axis is
    try:
        gather(data, np.array([index]), demand.axis)
    except IndexError as error:
        return str(error)
    raise AssertionError(
        f"the analysis says that index {index} is out of bounds for axis {demand.axis} of size {size}, but our kernel "
        "takes it: this is a fault of ov-gather; report it"
    )
