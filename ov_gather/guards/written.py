"""What all written guards share: facts about the model for their head, and the conditions in the terms of a language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from pathlib import Path

from ov_gather.guards.checks import digest_of
from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.requests import RequestTerms
from ov_gather.ranges.terms import Size
from ov_gather.system.tables import printable


@dataclass(frozen=True)
class WrittenModel:
    """The model that a guard is written for.

    Attributes:
        name: the name of its file.
        digests: the SHA-256 of the file, and of the .bin beside it, by suffix.
        data: the SHA-256 of each file of external data, by its path in the folder of the model.
    """

    name: str
    digests: dict[str, str]
    data: dict[str, str]


def written_model(path: Path, data: Collection[Path] = ()) -> WrittenModel:
    """Read a model's files, and its external data, for their digests. Raises OSError."""
    files = [path, *(other for other in [path.with_suffix(".bin")] if path.suffix == ".xml" and other.is_file())]
    of_data = {file.relative_to(path.parent).as_posix(): digest_of(file) for file in data}
    return WrittenModel(path.name, {file.suffix: digest_of(file) for file in files}, of_data)


def head(terms: RequestTerms, model: WrittenModel) -> Iterator[str]:
    """Yield the lines that explain a guard: its model, its conditions, and what it does not cover. All are printable."""
    yield f"Guard of requests to {printable(repr(model.name))}, written by `ov-gather prove` {version('ov-gather')}."
    yield f"Fingerprint: {terms.fingerprint}"
    yield ""
    yield "A request must satisfy:" if terms.conditions else "A request must have the right inputs, types and shapes only."
    for condition in terms.conditions:
        yield f"    {printable(str(condition))}    ({printable(', '.join(condition.needed_by))})"
    yield ""
    if not terms.uncovered:
        yield "Then no gather or scatter of the model is out of bounds."
        return
    yield "Then no gather or scatter of the model is out of bounds, except these, for which no condition is known"
    yield "(`ov-gather harden --guarded` makes them safe):"
    for site in terms.uncovered:
        yield f"    {printable(str(site))}"


def identifiers(names: Collection[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return an identifier for each name, in ASCII, each once, and none of the reserved ones."""
    found: dict[str, str] = {}
    taken = set(reserved)
    uses: Counter[str] = Counter()
    for name in names:
        plain = re.sub(r"[\W_]+", "_", name, flags=re.ASCII).strip("_")
        plain = plain if plain and not plain[0].isdigit() else f"input_{plain}".strip("_")
        found[name] = plain
        while found[name] in taken:
            uses[plain] += 1
            found[name] = f"{plain}_{uses[plain]}"
        taken.add(found[name])
    return found


@dataclass(frozen=True)
class Language:
    """How a language writes sizes and bounds.

    Attributes:
        dim: writes a dimension, from the name of an input and an axis.
        number: writes a number, which may be infinite.
        times: writes a product of factors.
        join: writes "min" or "max" of several expressions.
    """

    dim: Callable[[str, int], str]
    number: Callable[[Number], str]
    times: Callable[[list[str]], str]
    join: Callable[[str, list[str]], str]

    def size(self, size: Size, terms: RequestTerms) -> str:
        """Write a bound."""
        if not isinstance(size, Polynomial):
            return self.number(size)
        found = ""
        for monomial, factor in sorted(size.terms, key=lambda term: (-len(term[0]), term[0])):
            factors = [self.dim(*terms.places[symbol][0]) for symbol in monomial]
            factors = [*([] if abs(factor) == 1 and factors else [self.number(abs(factor))]), *factors]
            sign = (" - " if found else "-") if factor < 0 else (" + " if found else "")
            found += sign + (self.times(factors) if len(factors) > 1 else factors[0])
        return found

    def bounds(self, lows: Iterable[Size], highs: Iterable[Size], terms: RequestTerms) -> tuple[str, str]:
        """Write the lower and the upper bound of a condition."""
        least, most = ([self.size(size, terms) for size in sizes] for sizes in (lows, highs))
        low = self.join("max", least) if len(least) > 1 else (least or [self.number(-inf)])[0]
        return low, self.join("min", most) if len(most) > 1 else (most or [self.number(inf)])[0]
