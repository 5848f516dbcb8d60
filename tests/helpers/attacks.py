"""Requests that may break an index: each violates one bound of a condition, or has unusual sizes or values."""

from collections.abc import Iterator, Mapping
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.graph.symbols import Symbol
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.examples import evaluated
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.requests import RequestCondition, RequestTerms
from ov_gather.ranges.terms import Size

Feed = dict[str, NDArray[Any]]
Sizes = Mapping[str, int]

LARGEST = 4200
"""Greatest size that is tried."""
MOST_ELEMENTS = 1 << 24
"""Most elements of an input that is tried."""
MOST_SLICES = 40
"""Longest axis whose slices are changed one by one."""
NUMBERS = (-1, 0, 1, 7, 1 << 20, -(1 << 20), 2**31 - 1, -(2**31))
FRACTIONS = (-1.0, 0.0, 1.0, 1e9, -1e9, inf, np.nan)
USUAL = (0, 1, 2, 3, 5, 8, 17, 33, 64, 130, 257, 513, 1025, 2049)


class Attacks:
    """Requests to a model, made from arrays of a sample request by the names of inputs. Raises ValueError for an open rank."""

    def __init__(self, graph: AnalysedGraph, samples: Mapping[str, NDArray[Any]]) -> None:
        self._samples, self._bounds = samples, graph.bounds
        declared = {name: graph.declared(key) for name, key in graph.inputs.items()}
        self._dims, self._types = {}, {}
        self._sizes: dict[Symbol, int] = {}
        for name, value in declared.items():
            if value.shape is None or value.element_type is None:
                raise ValueError(f"the rank or type of input {name} is open")
            self._dims[name], self._types[name] = value.shape, value.element_type.dtype
            known = np.shape(samples.get(name, ()))
            for axis, dim in enumerate(value.shape):
                size = known[axis] if len(known) == len(value.shape) else 2
                self._sizes |= {one: self._allowed(one, size) for one in dim.symbols}

    def _allowed(self, symbol: Symbol, size: int) -> int:
        low, high = self._bounds.get(symbol, (0, inf))
        return int(min(max(size, low), high))

    def beyond(self, terms: RequestTerms) -> Iterator[Feed]:
        """Yield requests that violate one bound of a condition."""
        for condition in terms.conditions:
            if isinstance(condition.subject, Polynomial):
                for sizes in self._sizes_beyond(condition, condition.subject):
                    yield from self._feeds(sizes, terms)
            else:
                yield from self._values_beyond(condition, condition.subject.input, terms)

    def unusual_values(self) -> Iterator[Feed]:
        """Yield requests of unusual values."""
        rng = np.random.default_rng(1)
        for fill in (None, 0, 1, 2):
            feed = self._feed(self._sizes, fill) or {}
            for name, array in feed.items():
                yield from ({**feed, name: values} for values in _unusual(array))
            yield {name: _any(array, rng) for name, array in feed.items()}

    def unusual_sizes(self) -> Iterator[Feed]:
        """Yield requests of unusual sizes."""
        for group in {frozenset(group) for symbol in self._sizes for group in self._groups(symbol)}:
            for size in USUAL:
                feed = self._feed({**self._sizes, **{symbol: self._allowed(symbol, size) for symbol in group}}, None)
                if feed is not None:
                    yield feed

    def _groups(self, symbol: Symbol) -> list[set[Symbol]]:
        """Return sets of dimensions that change together: one alone, and all at the same axis with the same size."""
        equal = {one for one, size in self._sizes.items() if size == self._sizes[symbol]}
        return [{symbol}, {one for one in equal if one[2:] == symbol[2:]}, equal]

    def _sizes_beyond(self, condition: RequestCondition, subject: Polynomial) -> Iterator[Sizes]:
        slacks = [subject - _size(low) for low in condition.lows] + [_size(high) - subject for high in condition.highs]
        for slack in slacks:
            for symbol in sorted(slack.symbols):
                for group in self._groups(symbol):
                    for size in sorted(range(LARGEST), key=lambda size: abs(size - self._sizes[symbol])):
                        sizes = {**self._sizes, **{one: self._allowed(one, size) for one in group}}
                        if evaluated(slack, sizes) < 0:
                            yield sizes
                            break

    def _values_beyond(self, condition: RequestCondition, name: str, terms: RequestTerms) -> Iterator[Feed]:
        lows, highs = ([_number(one, self._sizes) for one in ends] for ends in (condition.lows, condition.highs))
        is_real = np.dtype(self._types[name]).kind not in "iu"
        numbers = [max(lows) - 1] if lows else []
        numbers += [min(highs) + 1] if highs else []
        for number in [*numbers, *(FRACTIONS if is_real else ())]:
            for feed in self._feeds(self._sizes, terms):
                for part in _parts(feed[name]) if _holds(feed[name], number) else ():
                    array = feed[name].copy()
                    array[part] = number
                    yield {**feed, name: array}

    def _feeds(self, sizes: Sizes, terms: RequestTerms) -> Iterator[Feed]:
        """Yield the sample in other sizes; also with zeros or ones as integers."""
        for fill in (None, 0, 1):
            feed = self._feed(sizes, fill)
            if feed is None:
                return
            for condition in terms.conditions:
                if not isinstance(condition.subject, Polynomial):
                    self._clip(feed[condition.subject.input], condition, sizes)
            yield feed

    def _feed(self, sizes: Sizes, fill: int | None) -> Feed | None:
        """Return the sample in other sizes; None if it is too large."""
        found = {}
        for name, dims in self._dims.items():
            shape = [evaluated(dim, sizes) for dim in dims]
            if prod(shape) > MOST_ELEMENTS:
                return None
            sample = np.asarray(self._samples.get(name, np.zeros(1))).astype(self._types[name])
            found[name] = np.resize(sample, shape)
            if fill is not None and found[name].dtype.kind in "iub":
                found[name][...] = fill
        return found

    def _clip(self, array: NDArray[Any], condition: RequestCondition, sizes: Sizes) -> None:
        """Bring the elements of an array into the bounds of a condition."""
        lows, highs = ([_number(one, sizes) for one in ends] for ends in (condition.lows, condition.highs))
        for bound, work in ((max(lows, default=-inf), np.maximum), (min(highs, default=inf), np.minimum)):
            if _holds(array, bound):
                work(array, array.dtype.type(bound), out=array)


def _size(bound: Size) -> Polynomial:
    return bound if isinstance(bound, Polynomial) else Polynomial.constant(int(bound))


def _number(bound: Size, sizes: Sizes) -> Number:
    return evaluated(bound, sizes) if isinstance(bound, Polynomial) else bound


def _unusual(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield arrays of one number, and arrays that ascend along an axis, so that each index leads to the next."""
    if array.dtype.kind not in "iuf":
        return
    for number in NUMBERS if array.dtype.kind in "iu" else FRACTIONS:
        if _holds(array, number):
            yield np.full_like(array, number)
    for axis, size in enumerate(array.shape):
        ascending = np.arange(1, size + 1).reshape([-1] + [1] * (array.ndim - axis - 1))
        yield np.broadcast_to(ascending, array.shape).astype(array.dtype)


def _any(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return integers of all magnitudes; arrays of other types as they are."""
    if array.dtype.kind not in "iu":
        return array
    limits = np.iinfo(array.dtype if array.dtype.itemsize < 4 else np.int32)
    return rng.integers(limits.min, limits.max, array.shape).astype(array.dtype)


def _parts(array: NDArray[Any]) -> Iterator[tuple[slice | int, ...]]:
    """Yield all of an array, and each slice along each of its shorter axes: other elements may be read before."""
    yield ()
    for axis, size in enumerate(array.shape):
        if 1 < size <= MOST_SLICES:
            yield from ((*(slice(None),) * axis, place) for place in range(size))


def _holds(array: NDArray[Any], number: Number) -> bool:
    """Return True if the type of an array holds a number."""
    if array.dtype.kind == "f":
        return True
    limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    return limits is not None and limits.min <= number <= limits.max
