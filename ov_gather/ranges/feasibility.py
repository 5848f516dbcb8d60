"""Satisfiability of conditions, and limits of sizes that rule out overflow."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable
from math import inf

from ov_gather.graph.symbols import OfInputs, Symbol
from ov_gather.ranges.algebra.intervals import Algebra, Interval
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.sizes import Limits, Sizes
from ov_gather.ranges.algebra.values import every_value
from ov_gather.ranges.analysis import LARGEST_DIM, Assumption
from ov_gather.ranges.fitting import Overflow
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.runs import joined


def limits_of(overflows: Iterable[Iterable[Overflow]], dims: Collection[Symbol]) -> Assumption:
    """Limit dimensions and products of dimensions so that no polynomial exceeds its type. Skip those with other symbols."""
    sizes: dict[Symbol, tuple[int, Number]] = {}
    limits: dict[Polynomial, int] = {}
    for polynomial, held in (one for found in overflows for one in found):
        terms = [(monomial, factor) for monomial, factor in polynomial.terms if monomial and factor > 0]
        if not all(isinstance(one, OfInputs) and one in dims for monomial, _ in terms for one in monomial):
            continue
        constant = max(dict(polynomial.terms).get((), 0), 0)
        share = (held - constant) // max(sum(factor for _, factor in terms), 1)
        for monomial, _ in terms:
            product = Polynomial(((monomial, 1),))
            if len(monomial) > 1:
                limits[product] = min(share, limits.get(product, share))
            elif share < LARGEST_DIM:
                sizes[monomial[0]] = (0, min(share, sizes.get(monomial[0], (0, inf))[1]))
    return Assumption(dims=sizes, limits=limits)


def can_be_met(condition: Assumption, given: Assumption, graph: AnalysedGraph, counts: Limits) -> bool:
    """Return True if the bounds of each input, dimension and product are satisfiable, each on its own.

    At their least sizes, tensors must have no more elements than `counts` allows.
    """
    both = joined(given, condition)
    dims = {dim: _common(bounds, graph.bounds.get(dim, (0, inf))) for dim, bounds in both.dims.items()}
    sizes = Sizes(ChainMap(dims, graph.bounds), (0, LARGEST_DIM))
    has_sizes = all(low <= high for low, high in dims.values()) and all(
        sizes.least(same) <= min(sizes.of(dim)[1], LARGEST_DIM) and sizes.greatest(same) >= sizes.of(dim)[0]
        for dim, same in both.same.items()
    )
    limits = counts.with_conditions(both.same, both.limits)
    has_products = all(sizes.least(product) <= limit for product, limit in limits.about(_sizes_of(both)))
    types = {elements: graph.declared(graph.inputs[elements.input]).element_type for elements in both.inputs}
    has_values = (_has_values(sizes, interval, every_value(types[elements])) for elements, interval in both.inputs.items())
    return has_sizes and has_products and all(has_values)


def _sizes_of(condition: Assumption) -> set[Symbol]:
    """Return the dimensions in a condition."""
    symbols = {symbol for same in condition.same.values() for symbol in same.symbols}
    return symbols.union(condition.dims, condition.same, *(product.symbols for product in condition.limits))


def _common(one: tuple[int, Number], other: tuple[int, Number]) -> tuple[int, Number]:
    return max(one[0], other[0]), min(one[1], other[1])


def _has_values(sizes: Sizes, interval: Interval, held: Interval) -> bool:
    lows = [max(interval.low, held.low), *map(sizes.least, interval.lows)]
    highs = [min(interval.high, held.high), *map(sizes.greatest, interval.highs)]
    return max(lows) <= min(highs) and all(
        sizes.greatest(high - low) >= 0 for low in Algebra(sizes).lows(interval) for high in Algebra(sizes).highs(interval)
    )
