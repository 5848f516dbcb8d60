"""Requirements of a whole model: the conditions of all sites, merged by input and dynamic dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ov_gather.ranges.proofs import Bound, Proof, text_of


@dataclass(frozen=True)
class Requirement:
    """The bounds of one input or dynamic dimension that the sites of a model require.

    Attributes:
        name: the name of the input, or e.g. "dim(x, 1)".
        lows: lower bounds, all of which hold: at most one number, the others as text.
        highs: upper bounds, likewise.
    """

    name: str
    lows: tuple[int | float | str, ...]
    highs: tuple[int | float | str, ...]

    @property
    def is_impossible(self) -> bool:
        """Return True if the numeric bounds contradict each other."""
        numbers = [[bound for bound in bounds if not isinstance(bound, str)] for bounds in (self.lows, self.highs)]
        return all(numbers) and numbers[0][0] > numbers[1][0]

    def __str__(self) -> str:
        if self.is_impossible:
            return f"{self.name}: no value is both >= {self.lows[0]} and <= {self.highs[0]}, as different layers require"
        count = max(len(self.lows), len(self.highs))
        lows, highs = ((*bounds, *[None] * (count - len(bounds))) for bounds in (self.lows, self.highs))
        return " and ".join(text_of({self.name: pair}) for pair in zip(lows, highs, strict=True))


def requirements(proofs: Iterable[Proof]) -> list[Requirement]:
    """Merge the conditions of all conditional sites. Inputs within them have no index out of bounds at these sites."""
    bounds: dict[str, list[tuple[Bound, Bound]]] = {}
    for proof in proofs:
        for name, pair in proof.requires.items():
            bounds.setdefault(name, []).append(pair)
    return [
        Requirement(name, _all(max, [low for low, _ in pairs]), _all(min, [high for _, high in pairs]))
        for name, pairs in bounds.items()
    ]


def _all(narrowest: Callable[[list[int | float]], int | float], bounds: Iterable[Bound]) -> tuple[int | float | str, ...]:
    """Keep the tightest number, and each text once."""
    given = dict.fromkeys(bound for bound in bounds if bound is not None)
    numbers = [bound for bound in given if not isinstance(bound, str)]
    return (*([narrowest(numbers)] if numbers else []), *(bound for bound in given if isinstance(bound, str)))
