"""Numbers as an IR writes them: plain ASCII digits, without surrounding blanks."""

from __future__ import annotations

_MAX_DIGITS = 19  # as many as an int64 has; longer text is never converted


def parse_digits(text: str) -> int | None:
    """Parse a number of up to 19 digits; return None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None
