"""Pairwise parameters for tests: far fewer rows than the full product, with every pair of values."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any

import pytest

KERNELS = ("native", "reference")


def pairwise(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return rows in which every two values of different parameters occur together at least once.

    Each step takes the row with most new pairs and, of those, with the values that were used least. The rows are in the
    order of the full product.
    """
    values = [list(parameter) for parameter in parameters]
    pairs = {row: set(combinations(enumerate(row), 2)) for row in product(*(range(len(of)) for of in values))}
    missing = set().union(*pairs.values())
    used: Counter[tuple[int, int]] = Counter()
    chosen = []
    while missing:
        best = max(pairs, key=lambda row: (len(pairs[row] & missing), -sum(used[value] for value in enumerate(row))))
        missing -= pairs[best]
        used.update(enumerate(best))
        chosen.append(best)
    return [tuple(of[place] for of, place in zip(values, row, strict=True)) for row in sorted(chosen)]


def pairs(*, ids: Callable[[Any], str] | None = None, **parameters: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test with the rows of these parameters; `kernel` is the fixture of this name."""
    indirect = ["kernel"] if "kernel" in parameters else False
    return pytest.mark.parametrize(tuple(parameters), pairwise(*parameters.values()), indirect=indirect, ids=ids)
