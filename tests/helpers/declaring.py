"""Declarations in the process of a test, undone behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ov_gather import ops
from ov_gather.ops import users


@contextmanager
def declared(path: Path, text: str) -> Iterator[Path]:
    """Write a file of declarations, and declare it; forget them at the end."""
    path.write_text(text)
    users.declare(path)
    try:
        yield path
    finally:
        ops.remove(users._declared.pop(str(path)).operations)
