"""Bodies of sub-graphs: the inputs of an iteration, and the values carried to the next.

Inputs of a body are identified by their origins outside of it, so that the bodies of both sides can get the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Value

ITERATION = "the number of the iteration"

Array = Callable[[Value], "NDArray[Any] | None"]
"""Returns the array of a value outside of the body; None if unknown."""


@dataclass(frozen=True, slots=True)
class SliceOrigin:
    """Origin of an input that gets another slice of an outside value in each iteration."""

    value: Value


Origin = Value | SliceOrigin


@dataclass(frozen=True)
class Sliced:
    """An array that is sliced along an axis: `size` rows per iteration, or if 0, one row without the axis."""

    array: NDArray[Any]
    axis: int
    size: int
    is_reversed: bool = False

    @property
    def count(self) -> int:
        """Number of iterations until the array is used up."""
        return int(self.array.shape[self.axis]) // max(self.size, 1)

    def __getitem__(self, iteration: int) -> NDArray[Any]:
        """Return the slice of an iteration."""
        number = self.count - 1 - iteration if self.is_reversed else iteration
        rows = range(number * self.size, (number + 1) * self.size)
        return np.asarray(np.take(self.array, rows if self.size else number, self.axis))


@dataclass(frozen=True, slots=True)
class Joined:
    """How the pieces of all iterations form an output: stacked along a new axis, or concatenated along an existing one."""

    axis: int
    is_new: bool
    is_reversed: bool = False

    def join(self, pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the output. Raises ValueError if the pieces do not fit."""
        ordered = list(reversed(pieces) if self.is_reversed else pieces)
        return np.stack(ordered, self.axis) if self.is_new else np.concatenate(ordered, self.axis)


@dataclass(frozen=True)
class ObservedBody:
    """A body as a model, with the inputs of one iteration.

    Attributes:
        model: the body as a separate model.
        inputs: arrays by input name.
        sources: the origin of each input in the first iteration.
        count: the maximum number of iterations.
        number: the number of this iteration, from 0.
        sliced: inputs that get another slice in each iteration.
        carried: inputs that get a value of the body in the next iteration (back edges).
        condition: the value of the body that is true if another iteration follows.
        results: for each output of the sub-graph, the value of the body that it comes from.
        joined: outputs that join pieces of all iterations; the others come from the last iteration.
    """

    model: Any
    inputs: Mapping[str, NDArray[Any]]
    sources: Mapping[str, Origin]
    count: int = 1
    number: int = 0
    sliced: Mapping[str, Sliced] = field(default_factory=dict)
    carried: Mapping[str, Value] = field(default_factory=dict)
    condition: Value | None = None
    results: Mapping[Value, Value] = field(default_factory=dict)
    joined: Mapping[Value, Joined] = field(default_factory=dict)

    def next_states(self, found: Mapping[Value, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
        """Return the carried inputs of the next iteration, given the values of this one; None if this is the last."""
        goes_on = self.condition is None or bool(np.all(found[self.condition]))
        if self.number + 1 >= self.count or not goes_on:
            return None
        return {name: found[value] for name, value in self.carried.items()}

    def following(self, states: Mapping[str, NDArray[Any]]) -> ObservedBody:
        """Return the next iteration, with these carried inputs."""
        number = self.number + 1
        inputs = dict(self.inputs)
        for name, origin in self.sources.items():
            if name in self.sliced:
                inputs[name] = self.sliced[name][number]
            elif name in states:
                inputs[name] = states[name]
            elif origin == ITERATION:
                inputs[name] = np.full_like(inputs[name], number)
        return replace(self, inputs=inputs, number=number)
