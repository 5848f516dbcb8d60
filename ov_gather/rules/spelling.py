"""Suggestions for misspelt names, in time linear in the number of names, since documents may hold many and long ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

_MAX_LENGTH = 64  # no known name is longer


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that equals `name` except for case, or one wrong, missing or extra letter, or two swapped ones."""
    if len(name) > _MAX_LENGTH:
        return None
    meant = _by_variant(tuple(known))
    return next((meant[variant] for variant in _variants(name) if variant in meant), None)


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return "did you mean ...?", or `otherwise` if no known name is close."""
    meant = closest(name, known)
    return f"did you mean {meant}?" if meant else otherwise


@lru_cache(maxsize=256)
def _by_variant(known: tuple[str, ...]) -> Mapping[str, str]:
    return {variant: name for name in known for variant in _variants(name)}


def _variants(name: str) -> Iterator[str]:
    """Yield the name in lower case, and without each of its letters; names that differ in one letter share a variant."""
    name = name.lower()
    yield name
    yield from (name[:i] + name[i + 1 :] for i in range(len(name)))
