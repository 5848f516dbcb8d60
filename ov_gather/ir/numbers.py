"""An IR writes numbers in plain ASCII digits, with nothing around them."""

from __future__ import annotations

_MAX_DIGITS = 19  # An int64 has no more; longer text is not converted at all, however long.


def parse_digits(text: str) -> int | None:
    """Read a number of up to 19 digits. Returns None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None
