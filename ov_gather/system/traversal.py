"""Traversal of graphs; iterative, because models are deeper than Python recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def reachable(
    start: Iterable[Item], next_of: Callable[[Item], Iterable[Item]], key: Callable[[Item], object] = lambda item: item
) -> Iterator[Item]:
    """Yield the items of `start`, and transitively the items that `next_of` returns, each once by its `key`."""
    seen, waiting = set(), list(start)
    while waiting:
        item = waiting.pop()
        identity = key(item)
        if identity not in seen:
            seen.add(identity)
            yield item
            waiting += next_of(item)
