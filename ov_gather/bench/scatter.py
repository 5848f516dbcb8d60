"""Base of the benchmark cases of scatters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ov_gather.bench.case import BenchCase


@dataclass(frozen=True)
class Scatter(BenchCase):
    """A scatter into a copy of data."""

    updates: NDArray[Any]

    @property
    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """The inputs of a gather, and the updates."""
        return {**super().inputs, "updates": self.updates}

    @property
    def bytes_moved(self) -> int:
        """The bytes moved by a copy of data, and those of the updates, which are read once."""
        return super().bytes_moved + self.updates.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of data."""
        return self.data.shape
