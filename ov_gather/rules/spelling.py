"""This module tells which name was meant by a misspelt one. The time is linear in the names, because documents may hold many
and long ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

_MAX_LENGTH = 64  # no known name is longer


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name from which a name differs in case, or in one letter: a wrong, missing or extra one, or two
    exchanged.
    """
    if len(name) > _MAX_LENGTH:
        return None
    meant = _by_variant(tuple(known))
    return next((meant[variant] for variant in _variants(name) if variant in meant), None)


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the question "did you mean ...?", or the text `otherwise` if no known name is close."""
    meant = closest(name, known)
    return f"did you mean {meant}?" if meant else otherwise


@lru_cache(maxsize=256)
def _by_variant(known: tuple[str, ...]) -> Mapping[str, str]:
    return {variant: name for name in known for variant in _variants(name)}


def _variants(name: str) -> Iterator[str]:
    """Yield the name in lower case, and what is left without each of its letters. Names that differ in one letter share a
    variant.
    """
    name = name.lower()
    yield name
    yield from (name[:i] + name[i + 1 :] for i in range(len(name)))
