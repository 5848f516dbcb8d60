"""Requests: sizes and values of inputs, as examples of conditions and as samples to compare conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, inf, prod

from ov_gather.ranges.algebra.intervals import Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Limits
from ov_gather.ranges.algebra.values import every_value
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.inequalities import is_slack, sign_of_slack

_BATCHES, _LENGTHS = (2, 1, 8, 32), (8, 16, 64, 128, 384, 1, 1024, 2048)
"""Sizes of typical requests: along the first axis, and along all others."""
_OTHERS = (0, 4, 32, 256, 512, 4096, 1 << 16, 1 << 20)
"""Further sizes that are tried for an example, along all axes."""
_TRIED_ALONE = 16
"""Number of dimensions that are given a size of their own."""

Request = Mapping[str, int]
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

    def example(self, conditions: Sequence[Assumption]) -> dict[str, Number] | None:
        """Return sizes and a value for all elements of each input that meet the conditions; None if none are found.

        Only the dimensions and inputs that the conditions name are returned.
        """
        if not conditions:
            return {}
        every = [*conditions, self.given]
        names = sorted(set().union(*map(_dims_of, conditions)))
        wanted = sorted({name for condition in conditions for name in condition.inputs})
        bounds = self._bounds(names, every)
        for sizes in _candidates(names):
            found = _with_equalities(_clamped(sizes, bounds), every)
            if all(low <= found[name] <= high for name, (low, high) in bounds.items()) and self._exists(found):
                values = self._values(found, every) if all(_has_sizes(one, found) for one in every) else None
                if values is not None:
                    return {name: found[name] for name in names} | {name: values[name] for name in wanted}
        return None

    def share(self, condition: Assumption) -> float:
        """Return the share of typical requests whose sizes meet a condition."""
        names = sorted(_dims_of(condition))
        if not names:
            return 1
        bounds = self._bounds(names, [self.given])
        requests = [_clamped(sizes, bounds) for sizes in _typical(names)]
        return sum(_has_sizes(condition, sizes) for sizes in requests) / len(requests)

    def _bounds(self, names: Iterable[str], conditions: Iterable[Assumption]) -> dict[str, tuple[Number, Number]]:
        found = {name: _common(self.graph.bounds.get(name, (0, inf)), (0, LARGEST_DIM)) for name in names}
        for condition in conditions:
            found |= {name: _common(pair, found[name]) for name, pair in condition.dims.items() if name in found}
        return found

    def _exists(self, sizes: Request) -> bool:
        """Return True if no tensor of known element count is too large."""
        return all(evaluated(polynomial, sizes) <= bound for polynomial, bound in self.counts.within(sizes.keys()))

    def _values(self, sizes: Request, conditions: Iterable[Assumption]) -> dict[str, Number] | None:
        """Return for each input in the conditions the value nearest to 0 that they allow; None if they allow none."""
        ranges: dict[str, tuple[Number, Number]] = {}
        for name, interval in ((name, interval) for condition in conditions for name, interval in condition.inputs.items()):
            held = every_value(self.graph.declared(self.graph.inputs[name]).element_type)
            ranges[name] = _common(ranges.get(name, (held.low, held.high)), _range(interval, sizes))
        found = {name: _nearest_to_0(*limits) for name, limits in ranges.items()}
        return found if all(low <= found[name] <= high for name, (low, high) in ranges.items()) else None


def _nearest_to_0(low: Number, high: Number) -> Number:
    return ceil(low) if low > 0 else floor(high) if high < 0 else 0


def names_in(condition: Assumption) -> set[str]:
    """Return the names of the dimensions and inputs in a condition."""
    return _dims_of(condition) | set(condition.inputs)


def evaluated(polynomial: Polynomial, sizes: Request) -> int:
    """Return the value of a polynomial, slacks being 0."""
    return sum(factor * prod(sizes.get(name, 0) for name in names) for names, factor in polynomial.terms)


def _dims_of(condition: Assumption) -> set[str]:
    """Return the names of the dimensions in a condition."""
    bounds = [bound for interval in condition.inputs.values() for bound in (*interval.lows, *interval.highs)]
    polynomials = [*condition.same.values(), *condition.limits, *bounds]
    names = set(condition.dims).union(condition.same, *(polynomial.names for polynomial in polynomials))
    return {name for name in names if not is_slack(name)}


def _candidates(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield sizes for an example: typical ones, then all equal, and then each size that differs from the others."""
    yield from _typical(names)
    for size in _OTHERS:
        yield dict.fromkeys(names, size)
    for name, size, rest in product(names[:_TRIED_ALONE], (*_LENGTHS, *_OTHERS), (1, 8)):
        yield dict.fromkeys(names, rest) | {name: size}


def _typical(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield typical sizes: dimensions along the first axis are equal, and all others are."""
    for batch, length in product(_BATCHES, _LENGTHS):
        yield {name: batch if name.endswith(", 0)") else length for name in names}


def _clamped(sizes: Mapping[str, int], bounds: Mapping[str, tuple[Number, Number]]) -> dict[str, int]:
    return {name: int(min(max(size, bounds[name][0]), bounds[name][1])) for name, size in sizes.items()}


def _with_equalities(sizes: dict[str, int], conditions: Iterable[Assumption]) -> dict[str, int]:
    """Replace the sizes that the conditions compute from others."""
    for condition in conditions:
        for name, same in condition.same.items():
            bound, sign = evaluated(same, sizes), sign_of_slack(same)
            sizes[name] = bound if not sign else max(sizes[name], bound) if sign > 0 else min(sizes[name], bound)
    return sizes


def _has_sizes(condition: Assumption, sizes: Request) -> bool:
    """Return True if sizes meet the bounds, the relations and the limits of a condition."""
    for name, same in condition.same.items():
        above, sign = sizes[name] - evaluated(same, sizes), sign_of_slack(same)
        if above * sign < 0 or (not sign and above):
            return False
    return all(low <= sizes[name] <= high for name, (low, high) in condition.dims.items() if name in sizes) and all(
        evaluated(limited, sizes) <= bound for limited, bound in condition.limits.items()
    )


def _range(interval: Interval, sizes: Request) -> tuple[Number, Number]:
    lows, highs = ([evaluated(bound, sizes) for bound in bounds] for bounds in (interval.lows, interval.highs))
    return max([interval.low, *lows]), min([interval.high, *highs])


def _common(one: tuple[Number, Number], other: tuple[Number, Number]) -> tuple[Number, Number]:
    return max(one[0], other[0]), min(one[1], other[1])
