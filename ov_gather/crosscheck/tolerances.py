"""Tolerances for the numbers of outputs, given by users for all outputs or by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.deviation import is_number

Bound: TypeAlias = float | Mapping[str, float] | None
"""A bound for all outputs; or bounds by output name, with "" for all others."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The differences that are permitted: up to `atol` plus `rtol` times the magnitude of the expected number.

    Attributes:
        is_named: whether it is given for this output by name.
    """

    atol: float
    rtol: float
    is_named: bool = False

    def permitted(self, magnitudes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest difference that is permitted, for each magnitude of an expected number."""
        return self.atol + self.rtol * magnitudes

    def concerns(self, dtype: np.dtype[Any], *, exact: bool) -> bool:
        """Return True if it replaces the usual comparison: an exact one of numbers only if it is given by name."""
        return is_number(dtype) and (self.is_named or not exact)

    def __str__(self) -> str:
        return f"atol {self.atol:g}, rtol {self.rtol:g}"


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Tolerances of the outputs of a model: absolute and relative bounds by output name, with "" for all other outputs."""

    atol: Mapping[str, float] = field(default_factory=dict)
    rtol: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, atol: Bound, rtol: Bound) -> Tolerances:
        """Return the tolerances for these bounds. Raises ValueError for a bound below 0, or an infinite one."""
        return cls(_by_name(atol), _by_name(rtol))

    def __bool__(self) -> bool:
        return bool(self.atol or self.rtol)

    @property
    def names(self) -> list[str]:
        """The outputs that have a tolerance by name."""
        return [name for name in dict.fromkeys((*self.atol, *self.rtol)) if name]

    @property
    def of_all(self) -> Tolerance | None:
        """The tolerance of outputs that are not named; None if there is none."""
        return self.of_output("")

    def of_output(self, name: str) -> Tolerance | None:
        """Return the tolerance of an output; None if there is none."""
        bounds = [next((by_name[key] for key in (name, "") if key in by_name), None) for by_name in (self.atol, self.rtol)]
        if bounds == [None, None]:
            return None
        return Tolerance(bounds[0] or 0, bounds[1] or 0, bool(name) and (name in self.atol or name in self.rtol))

    def among(self, outputs: Collection[str]) -> Tolerances:
        """Return these tolerances without those of other outputs."""
        kept = {"", *outputs}
        atol, rtol = ({name: bound for name, bound in given.items() if name in kept} for given in (self.atol, self.rtol))
        return Tolerances(atol, rtol)

    def check_names(self, outputs: Collection[str]) -> None:
        """Raise ValueError for a name that is no output."""
        for name in self.names:
            if name not in outputs:
                raise ValueError(f"a tolerance is given for '{name}', but the outputs are {', '.join(outputs)}")


NO_TOLERANCES = Tolerances()


def _by_name(bound: Bound) -> Mapping[str, float]:
    bounds = {} if bound is None else dict(bound) if isinstance(bound, Mapping) else {"": bound}
    return {name: check_bound(value) for name, value in bounds.items()}


def check_bound(bound: float) -> float:
    """Return a bound. Raises ValueError if it is negative or not finite."""
    if not isfinite(bound) or bound < 0:
        raise ValueError(f"a tolerance must be a number from 0 on, not {bound}")
    return bound
