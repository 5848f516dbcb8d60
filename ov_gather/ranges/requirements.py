"""What a whole model requires: the conditions of all its sites, put together for each input and each open dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ov_gather.ranges.proofs import Bound, Proof, text_of


@dataclass(frozen=True)
class Requirement:
    """A Requirement is what the values of one input, or one open dimension, have to keep to.

    Attributes:
        name: the name of the input, or e.g. "dim(x, 1)".
        lows: no value may be below any of these; one of them at most is a number, the others are texts.
        highs: no value may exceed any of these.
    """

    name: str
    lows: tuple[int | float | str, ...]
    highs: tuple[int | float | str, ...]

    @property
    def is_impossible(self) -> bool:
        """Whether no number keeps to it."""
        numbers = [[bound for bound in bounds if not isinstance(bound, str)] for bounds in (self.lows, self.highs)]
        return all(numbers) and numbers[0][0] > numbers[1][0]

    def __str__(self) -> str:
        if self.is_impossible:
            return f"{self.name}: no value is both >= {self.lows[0]} and <= {self.highs[0]}, as different layers require"
        count = max(len(self.lows), len(self.highs))
        lows, highs = ((*bounds, *[None] * (count - len(bounds))) for bounds in (self.lows, self.highs))
        return " and ".join(text_of({self.name: pair}) for pair in zip(lows, highs, strict=True))


def requirements(proofs: Iterable[Proof]) -> list[Requirement]:
    """Put together what all conditional sites require. Inputs that keep to it have no index out of bounds at these sites."""
    bounds: dict[str, list[tuple[Bound, Bound]]] = {}
    for proof in proofs:
        for name, pair in proof.requires.items():
            bounds.setdefault(name, []).append(pair)
    return [
        Requirement(name, _all(max, [low for low, _ in pairs]), _all(min, [high for _, high in pairs]))
        for name, pairs in bounds.items()
    ]


def _all(narrowest: Callable[[list[int | float]], int | float], bounds: Iterable[Bound]) -> tuple[int | float | str, ...]:
    """Keep the narrowest number, and each text once."""
    given = dict.fromkeys(bound for bound in bounds if bound is not None)
    numbers = [bound for bound in given if not isinstance(bound, str)]
    return (*([narrowest(numbers)] if numbers else []), *(bound for bound in given if isinstance(bound, str)))
