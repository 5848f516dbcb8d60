"""Checks of arguments that users confuse."""

from __future__ import annotations

from collections.abc import Iterable
from reprlib import repr as shortened


def texts(name: str, given: Iterable[str], example: str) -> tuple[str, ...]:
    """Return the texts of a list. Raises TypeError for anything else, such as one text, which would be split to characters.

    `name` is that of the argument, and `example` a valid text in it; both are for the message.
    """
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    found = tuple(given) if is_list else ()
    if not is_list or not all(isinstance(text, str) for text in found):
        right = given if isinstance(given, str) and given else example
        raise TypeError(f"{name} must be a list such as [{shortened(right)}], not {shortened(given)}")
    return found
