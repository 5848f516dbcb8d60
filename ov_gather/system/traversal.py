"""Traversal of graphs; iterative, because models are deeper than Python recurses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


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


def depth_first(wanted: Iterable[Key], before: Callable[[Key], Iterable[Key]]) -> Iterator[Key]:
    """Yield the items of `wanted` and what they depend on, each once and after all that `before` returns. Cycles are cut."""
    seen: set[Key] = set()
    waiting = [(item, False) for item in wanted]
    waiting.reverse()
    while waiting:
        item, is_ready = waiting.pop()
        if is_ready:
            yield item
        elif item not in seen:
            seen.add(item)
            waiting.append((item, True))
            waiting += [(one, False) for one in before(item)]


def breadth_first(sources: Mapping[Key, Iterable[Key]]) -> list[Key]:
    """Sort items topologically, the ones without sources first. Items on or behind a cycle are left out."""
    followers: dict[Key, list[Key]] = {}
    missing = dict.fromkeys(sources, 0)
    for item, before in sources.items():
        for source in before:
            followers.setdefault(source, []).append(item)
            missing[item] += 1
    ready = [item for item, count in missing.items() if not count]
    for item in ready:  # grows meanwhile
        for follower in followers.get(item, ()):
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    return ready
