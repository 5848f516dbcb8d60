"""Numbers as an IR writes them: plain ASCII digits, nothing around them."""

from __future__ import annotations

_MAX_DIGITS = 19  # of an int64; longer text is not converted at all, whatever its length


def parse_digits(text: str) -> int | None:
    """The number that up to 19 digits make, or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None
