"""What reproducers of `check` and of `bisect` share: inputs as small as possible, and a folder of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

FailureT = TypeVar("FailureT")


def shrunk(failure: FailureT, smaller: Callable[[FailureT], Iterable[FailureT | None]], attempts: int) -> FailureT:
    """Replace a failure by the first of `smaller` that still fails, and repeat until none does, for up to `attempts` trials.

    `smaller` yields None for a candidate that does not fail.
    """
    tried = 0
    while tried < attempts:
        for found in islice(smaller(failure), attempts - tried):
            tried += 1
            if found is not None:
                failure = found
                break
        else:
            break
    return failure


def cut(array: NDArray[Any], size: int, part: slice) -> NDArray[Any]:
    """Return a part of each dimension that has this size."""
    return array[tuple(part if n == size else slice(None) for n in array.shape)]


def new_folder(directory: Path, name: str) -> Path:
    """Create a folder named after a layer or a node. Raises OSError."""
    words = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "node"
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(10_000):
        folder = directory / (f"{words}-{number}" if number else words)
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise OSError(f"{directory} has too many folders named {words}")
