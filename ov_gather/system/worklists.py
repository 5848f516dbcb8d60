"""Traversal of graphs by a worklist."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def reachable(
    starts: Iterable[Item], following: Callable[[Item], Iterable[Item]], key: Callable[[Item], Hashable] = lambda item: item
) -> Iterator[Item]:
    """Yield the starts and all items that `following` leads to, each once. `key` identifies items that cannot be hashed."""
    left, seen = list(starts), set[Hashable]()
    while left:
        item = left.pop()
        if key(item) not in seen:
            seen.add(key(item))
            yield item
            left += following(item)
