"""The body of a sub-graph: what it is given in an iteration, and what the next iteration takes from it.

What a body is given is named by where it comes from outside, so that the bodies of both sides can be given the same.
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
"""Gives the array that a value outside has; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices come from a value outside, of which each iteration takes another slice."""

    value: Value


Origin = Value | Slices


@dataclass(frozen=True)
class Sliced:
    """A Sliced is an array of which each iteration takes `size` rows along an axis; one row without the axis if 0."""

    array: NDArray[Any]
    axis: int
    size: int
    is_reversed: bool = False

    @property
    def count(self) -> int:
        """The number of iterations that it is enough for."""
        return int(self.array.shape[self.axis]) // max(self.size, 1)

    def __getitem__(self, iteration: int) -> NDArray[Any]:
        """Give the slice of an iteration."""
        number = self.count - 1 - iteration if self.is_reversed else iteration
        rows = range(number * self.size, (number + 1) * self.size)
        return np.asarray(np.take(self.array, rows if self.size else number, self.axis))


@dataclass(frozen=True, slots=True)
class Joined:
    """How what the iterations give becomes one output: stacked along a new axis, or joined along one that is there."""

    axis: int
    is_new: bool
    is_reversed: bool = False

    def join(self, pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return the output. Raises ValueError where the pieces do not fit."""
        ordered = list(reversed(pieces) if self.is_reversed else pieces)
        return np.stack(ordered, self.axis) if self.is_new else np.concatenate(ordered, self.axis)


@dataclass(frozen=True)
class Body:
    """A Body is the model of a body with what one iteration is given.

    Attributes:
        model: the body as a model of its own.
        inputs: by the names of its inputs.
        sources: where each input comes from in the first iteration.
        count: how many iterations there can be.
        number: which one this is.
        sliced: inputs that get another slice in each iteration.
        carried: inputs that get a value of the body in the next iteration.
        condition: the value of the body that tells whether there is another iteration.
        results: the value of the body that each output of the sub-graph is made from.
        joined: outputs that all iterations contribute to; the others are what the last iteration gives.
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
        """Give the carried inputs of the next iteration, from the values of this one; None if this was the last."""
        goes_on = self.condition is None or bool(np.all(found[self.condition]))
        if self.number + 1 >= self.count or not goes_on:
            return None
        return {name: found[value] for name, value in self.carried.items()}

    def following(self, states: Mapping[str, NDArray[Any]]) -> Body:
        """Give the next iteration, with these carried inputs."""
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
