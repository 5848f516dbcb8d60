"""Pieces of Markdown that several parts of the reference are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Pages = dict[str, str]
"""Text of each page, by its path below docs/."""


def escaped(text: str) -> str:
    """Escape text for Markdown: no tags, cells or emphasis."""
    for character in "<|*":
        text = text.replace(character, f"\\{character}")
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"


def fenced(lines: Iterable[str], language: str = "text") -> list[str]:
    """Return lines in a fence that none of them closes."""
    return [f"````{language}", *lines, "````"]


def page(*lines: str) -> str:
    """Return a page of these lines."""
    return "\n".join(lines).rstrip() + "\n"
