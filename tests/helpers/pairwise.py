"""Pairwise parameters for tests: far fewer rows than the full product, with every pair of values."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest

from helpers.tiers import covering

KERNELS = ("native", "reference")


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
