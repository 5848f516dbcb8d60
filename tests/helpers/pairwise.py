"""Pairwise parameters for tests: far fewer rows than the full product, with every pair of values."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

KERNELS = ("native", "reference")


def covering(rows: Sequence[Sequence[Hashable]]) -> list[int]:
    """Return positions of rows, in order, that have every two values of different columns that occur together in a row.

    Each step takes the row with most new pairs and, of those, with the values that were used least.
    """
    pairs = [set(combinations(enumerate(row), 2)) for row in rows]
    missing = set[Any]().union(*pairs)
    used, chosen, left = Counter[Any](), list[int](), set(range(len(rows)))
    while missing:
        best = min(left, key=lambda row: (-len(pairs[row] & missing), sum(used[value] for value in enumerate(rows[row])), row))
        left.remove(best)
        missing -= pairs[best]
        used.update(enumerate(rows[best]))
        chosen.append(best)
    return sorted(chosen)


def pairwise(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return rows in which every two values of different parameters occur together at least once.

    The rows are in the order of the full product.
    """
    values = [list(parameter) for parameter in parameters]
    places = list(product(*(range(len(of)) for of in values)))
    return [tuple(of[place] for of, place in zip(values, places[row], strict=True)) for row in covering(places)]


def pairs(*, ids: Callable[[Any], str] | None = None, **parameters: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test with the rows of these parameters; `kernel` is the fixture of this name."""
    indirect = ["kernel"] if "kernel" in parameters else False
    return pytest.mark.parametrize(tuple(parameters), pairwise(*parameters.values()), indirect=indirect, ids=ids)
