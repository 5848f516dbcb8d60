"""Did you mean ...? In time that is linear in the names, as documents may hold many of them, and long ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

_MAX_LENGTH = 64  # nothing that is looked for is longer


def closest(name: str, known: Iterable[str]) -> str | None:
    """What is meant by a name that differs in case, or in one letter: wrong, missing, too many, or in the place of the next."""
    if len(name) > _MAX_LENGTH:
        return None
    meant = _by_variant(tuple(known))
    return next((meant[variant] for variant in _variants(name) if variant in meant), None)


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """Did you mean ...?, or something else to say."""
    meant = closest(name, known)
    return f"did you mean {meant}?" if meant else otherwise


@lru_cache(maxsize=256)
def _by_variant(known: tuple[str, ...]) -> Mapping[str, str]:
    return {variant: name for name in known for variant in _variants(name)}


def _variants(name: str) -> Iterator[str]:
    """The name in lower case, whole and without each of its letters: names that differ in one letter have one in common."""
    name = name.lower()
    yield name
    yield from (name[:i] + name[i + 1 :] for i in range(len(name)))
