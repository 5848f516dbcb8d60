"""The gather family element by element, in loops over NumPy arrays, for each policy of `harden`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class OutOfBoundsError(Exception):
    """An index is out of bounds, and the policy is to raise."""


@dataclass(frozen=True)
class Call:
    """One call of an operation.

    Attributes:
        kind: versioned name, e.g. "Gather-8".
        policy: what an index out of bounds does: "raise", "clamp" or "zero".
    """

    kind: str
    data: np.ndarray
    indices: np.ndarray
    axis: int = 0
    batch_dims: int = 0
    updates: np.ndarray | None = None
    reduction: str = "none"
    policy: str = "raise"

    def evaluate(self) -> np.ndarray:
        """Return the output. Raises OutOfBoundsError."""
        family = self.kind.partition("-")[0]
        if family == "Gather":
            return self._gather()
        if family == "GatherElements":
            return self._gather_elements()
        if family == "GatherND":
            return self._gather_nd()
        return self._scatter(family)

    def _place(self, coordinates: Sequence[int], axes: Sequence[int]) -> tuple[int, ...] | None:
        """Return coordinates counted from the start; None if one is out of bounds and the policy is "zero"."""
        found, is_out = [], False
        for coordinate, axis in zip(coordinates, axes, strict=True):
            size = self.data.shape[axis]
            lowest = 0 if self.kind in ("Gather-1", "Gather-7", "ScatterUpdate-3") else -size
            if size == 0 or (self.policy == "raise" and not lowest <= coordinate < size):
                raise OutOfBoundsError
            is_out |= not lowest <= coordinate < size
            found.append(min(max(coordinate, lowest), size - 1) % size)
        return None if is_out and self.policy == "zero" else tuple(found)

    def _gather(self) -> np.ndarray:
        batch, axis, rest = self.batch_dims, self.axis, self.data.shape[self.axis + 1 :]
        out = np.zeros((*self.data.shape[:axis], *self.indices.shape[batch:], *rest), self.data.dtype)
        for where in np.ndindex(self.indices.shape):
            place = self._place([int(self.indices[where])], [axis])
            for between in np.ndindex(self.data.shape[batch:axis]):
                if place is not None:
                    out[(*where[:batch], *between, *where[batch:])] = self.data[(*where[:batch], *between, *place)]
        return out

    def _gather_elements(self) -> np.ndarray:
        out = np.zeros(self.indices.shape, self.data.dtype)
        for where in np.ndindex(self.indices.shape):
            place = self._place([int(self.indices[where])], [self.axis])
            if place is not None:
                out[where] = self.data[(*where[: self.axis], *place, *where[self.axis + 1 :])]
        return out

    def _gather_nd(self) -> np.ndarray:
        batch, length = self.batch_dims, self.indices.shape[-1]
        rest = self.data.shape[batch + length :]
        out = np.zeros((*self.indices.shape[:-1], *rest), self.data.dtype)
        for where in np.ndindex(self.indices.shape[:-1]):
            place = self._place([int(one) for one in self.indices[where]], range(batch, batch + length))
            if place is not None:
                out[where] = self.data[(*where[:batch], *place)]
        if self.kind == "GatherND-5" and batch > 1:
            return out.reshape(int(np.prod(out.shape[:batch])), *out.shape[batch:])
        return out

    def _scatter(self, family: str) -> np.ndarray:
        assert self.updates is not None
        out = self.data.copy()
        tuples = family == "ScatterNDUpdate"
        for where in np.ndindex(self.indices.shape[:-1] if tuples else self.indices.shape):
            named = [int(one) for one in np.atleast_1d(self.indices[where])]
            place = self._place(named, range(len(named)) if tuples else [self.axis])
            if place is None:
                continue
            update: np.ndarray = self.updates[where]
            target: tuple[object, ...] = place
            if family == "ScatterElementsUpdate":
                target = (*where[: self.axis], *place, *where[self.axis + 1 :])
            elif family == "ScatterUpdate":
                before = (slice(None),) * self.axis
                target, update = (*before, *place), self.updates[(*before, *where)]
            combined = {"none": lambda old, new: new, "sum": np.add, "min": np.minimum, "max": np.maximum}[self.reduction]
            out[target] = combined(out[target], update)
        return out
