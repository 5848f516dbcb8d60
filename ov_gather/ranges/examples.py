"""Requests: sizes and values of inputs, as examples of conditions and as samples to compare conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import ceil, floor, inf, prod

from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Limits
from ov_gather.ranges.algebra.symbols import Elements, Slack
from ov_gather.ranges.algebra.values import every_value
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.inequalities import sign_of_slack

_BATCHES, _LENGTHS = (2, 1, 8, 32), (8, 16, 64, 128, 384, 1, 1024, 2048)
"""Sizes of typical requests: along the first axis, and along all others."""
_OTHERS = (0, 4, 32, 256, 512, 4096, 1 << 16, 1 << 20)
"""Further sizes that are tried for an example, along all axes."""
_TRIED_ALONE = 16
"""Number of dimensions that are given a size of their own."""

Request = Mapping[Symbol, int]
"""The size of each dynamic dimension."""


@dataclass(frozen=True)
class Premises:
    """What every request meets.

    Attributes:
        given: the assumption of the caller.
        counts: upper bounds of element counts.
    """

    graph: AnalysedGraph
    given: Assumption
    counts: Limits

    def example(self, conditions: Sequence[Assumption]) -> dict[Symbol, Number] | None:
        """Return sizes, and a value for all of some elements, that meet the conditions; None if none are found.

        Only the dimensions and elements that the conditions name are returned.
        """
        if not conditions:
            return {}
        every = [*conditions, self.given]
        dims = sorted(set().union(*map(_dims_of, conditions)))
        wanted = sorted({elements for condition in conditions for elements in condition.inputs})
        bounds = self._bounds(dims, every)
        for sizes in _candidates(dims):
            found = _with_equalities(_clamped(sizes, bounds), every)
            if all(low <= found[dim] <= high for dim, (low, high) in bounds.items()) and self._exists(found):
                values = self._values(found, every) if all(_has_sizes(one, found) for one in every) else None
                if values is not None:
                    return {dim: found[dim] for dim in dims} | {elements: values[elements] for elements in wanted}
        return None

    def share(self, condition: Assumption) -> float:
        """Return the share of typical requests whose sizes meet a condition."""
        dims = sorted(_dims_of(condition))
        if not dims:
            return 1
        bounds = self._bounds(dims, [self.given])
        requests = [_clamped(sizes, bounds) for sizes in _typical(dims)]
        return sum(_has_sizes(condition, sizes) for sizes in requests) / len(requests)

    def _bounds(self, dims: Iterable[Symbol], conditions: Iterable[Assumption]) -> dict[Symbol, tuple[Number, Number]]:
        found = {dim: _common(self.graph.bounds.get(dim, (0, inf)), (0, LARGEST_DIM)) for dim in dims}
        for condition in conditions:
            found |= {dim: _common(pair, found[dim]) for dim, pair in condition.dims.items() if dim in found}
        return found

    def _exists(self, sizes: Request) -> bool:
        """Return True if no tensor of known element count is too large."""
        return all(evaluated(polynomial, sizes) <= bound for polynomial, bound in self.counts.within(sizes.keys()))

    def _values(self, sizes: Request, conditions: Iterable[Assumption]) -> dict[Elements, Number] | None:
        """Return for the elements in the conditions the value nearest to 0 that they allow; None if they allow none.

        That of a part of an input holds there, instead of that of all of it; parts that overlap get the same range.
        """
        ranges: dict[Elements, tuple[Number, Number]] = {}
        given = [(elements, _range(bounds, sizes)) for condition in conditions for elements, bounds in condition.inputs.items()]
        for elements in dict.fromkeys(elements for elements, _ in given):
            held = every_value(self.graph.declared(self.graph.inputs[elements.input]).element_type)
            others = [bounds for other, bounds in given if other == elements or (elements.spans and elements.overlaps(other))]
            ranges[elements] = reduce(_common, others, (held.low, held.high))
        found = {elements: _nearest_to_0(*limits) for elements, limits in ranges.items()}
        return found if all(low <= found[elements] <= high for elements, (low, high) in ranges.items()) else None


def _nearest_to_0(low: Number, high: Number) -> Number:
    return ceil(low) if low > 0 else floor(high) if high < 0 else 0


def symbols_in(condition: Assumption) -> set[Symbol]:
    """Return the dimensions and elements in a condition."""
    return _dims_of(condition).union(condition.inputs)


def evaluated(polynomial: Polynomial, sizes: Request) -> int:
    """Return the value of a polynomial, slacks being 0."""
    return sum(factor * prod(sizes.get(symbol, 0) for symbol in monomial) for monomial, factor in polynomial.terms)


def _dims_of(condition: Assumption) -> set[Symbol]:
    """Return the dimensions in a condition."""
    bounds = [bound for interval in condition.inputs.values() for bound in (*interval.lows, *interval.highs)]
    polynomials = [*condition.same.values(), *condition.limits, *bounds]
    symbols = set(condition.dims).union(condition.same, *(polynomial.symbols for polynomial in polynomials))
    return {one for one in symbols if not isinstance(one, Slack)}


def _candidates(dims: Sequence[Symbol]) -> Iterator[dict[Symbol, int]]:
    """Yield sizes for an example: typical ones, then all equal, and then each size that differs from the others."""
    yield from _typical(dims)
    for size in _OTHERS:
        yield dict.fromkeys(dims, size)
    for dim, size, rest in product(dims[:_TRIED_ALONE], (*_LENGTHS, *_OTHERS), (1, 8)):
        yield dict.fromkeys(dims, rest) | {dim: size}


def _typical(dims: Sequence[Symbol]) -> Iterator[dict[Symbol, int]]:
    """Yield typical sizes: dimensions along the first axis are equal, and all others are."""
    for batch, length in product(_BATCHES, _LENGTHS):
        yield {dim: batch if dim.is_first else length for dim in dims}


def _clamped(sizes: Request, bounds: Mapping[Symbol, tuple[Number, Number]]) -> dict[Symbol, int]:
    return {dim: int(min(max(size, bounds[dim][0]), bounds[dim][1])) for dim, size in sizes.items()}


def _with_equalities(sizes: dict[Symbol, int], conditions: Iterable[Assumption]) -> dict[Symbol, int]:
    """Replace the sizes that the conditions compute from others."""
    for condition in conditions:
        for dim, same in condition.same.items():
            bound, sign = evaluated(same, sizes), sign_of_slack(same)
            sizes[dim] = bound if not sign else max(sizes[dim], bound) if sign > 0 else min(sizes[dim], bound)
    return sizes


def _has_sizes(condition: Assumption, sizes: Request) -> bool:
    """Return True if sizes meet the bounds, the relations and the limits of a condition."""
    for dim, same in condition.same.items():
        above, sign = sizes[dim] - evaluated(same, sizes), sign_of_slack(same)
        if above * sign < 0 or (not sign and above):
            return False
    return all(low <= sizes[dim] <= high for dim, (low, high) in condition.dims.items() if dim in sizes) and all(
        evaluated(limited, sizes) <= bound for limited, bound in condition.limits.items()
    )


def _range(interval: Interval, sizes: Request) -> tuple[Number, Number]:
    lows, highs = ([evaluated(bound, sizes) for bound in bounds] for bounds in (interval.lows, interval.highs))
    return max([interval.low, *lows]), min([interval.high, *highs])


def _common(one: tuple[Number, Number], other: tuple[Number, Number]) -> tuple[Number, Number]:
    return max(one[0], other[0]), min(one[1], other[1])
