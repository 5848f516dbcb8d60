"""The two sides of a bisection. A side executes its model, or a part of it, and returns requested values.

Everything is executed in worker processes, so that a crash is an observation like any other. Inputs of the body of a sub-graph
are identified by their origins outside of it, so that the bodies of both sides can get the same values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Value, ValueGraph, arrays_graph
from ov_gather.runtimes.base import RefusedError

Arrays = Mapping[str, NDArray[Any]]

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


@dataclass(frozen=True)
class Replacement:
    """An array that replaces a value, and the name of the new input."""

    name: str
    array: NDArray[Any]


class Part(ABC):
    """An extracted part of a model, executable on its own. `rest` are further inputs that are bound already, by name."""

    rest: Arrays = MappingProxyType({})

    @abstractmethod
    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the part. Raises RefusedError, CrashedError, IndexError."""

    @abstractmethod
    def write(self, folder: Path, stem: str) -> Path:
        """Write the part to a folder, and return the path. Raises OSError."""


class Side(ABC):
    """A model on a runtime, with inputs. `outputs` are those of an earlier execution; empty if there was none."""

    graph: ValueGraph
    title: str
    runs: int = 0
    outputs: Mapping[Value, NDArray[Any]] = MappingProxyType({})

    @abstractmethod
    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Return some values and all outputs; with `plain`, executed on one thread and without optimisation.

        Raises RefusedError, CrashedError, IndexError.
        """

    def part(self, inputs: Mapping[Value, Replacement], outputs: Mapping[Value, str]) -> Part | None:
        """Extract the nodes that compute `outputs` from `inputs`; None if that is impossible."""
        return None

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Return a constant of the model; None for other values, and if it is unreadable."""
        return None

    def computed_from(self, given: Mapping[Value, Replacement], output: Value) -> NDArray[Any] | None:
        """Return an output with some values replaced; None if that is impossible.

        Raises RefusedError, CrashedError, IndexError.
        """
        return None

    def body(self, value: Value, array: Array) -> ObservedBody | None:
        """Return the body of the sub-graph that computes a value; None if it cannot be extracted."""
        return None

    def inside(self, body: ObservedBody) -> Side:
        """Return the side of a body."""
        raise AssertionError("this side has no bodies")

    def prefix(self, values: Sequence[Value]) -> dict[Value, NDArray[Any]]:
        """Return some values by executing only what they depend on. Raises RefusedError, CrashedError, IndexError."""
        given = self._given()
        wanted = [value for value in dict.fromkeys(values) if value not in given]
        part = self.part({}, {value: self.graph.label(value) for value in wanted}) if wanted else None
        if part is None:
            return {value: given[value] for value in values}
        self.runs += 1
        found = dict(zip(wanted, part.run(self._inputs_of(part)), strict=True))
        return {value: found[value] if value in found else given[value] for value in values}

    def value(self, value: Value) -> NDArray[Any]:
        """Return a constant, or a value computed by executing only what it depends on. Raises as `prefix`."""
        constant = self.constant(value)
        return self.prefix([value])[value] if constant is None else constant

    @abstractmethod
    def _given(self) -> Mapping[Value, NDArray[Any]]:
        """Return the values that are known without execution."""

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        """Return the model's inputs that a part without replaced values needs, unless the part has them as `rest`."""
        return []


class ArraysSide(Side):
    """Precomputed arrays, by the names of values. They have no parts, and no array is known to be constant."""

    def __init__(self, arrays: Arrays, inputs: Arrays) -> None:
        self._arrays = {**arrays, **inputs}
        self.graph, self.title = arrays_graph(self._arrays, inputs.keys()), "arrays"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Return the arrays. They cannot be recomputed, so `plain` is refused."""
        if plain:
            raise RefusedError("arrays cannot be computed again")
        return dict(self._arrays.items())

    def _given(self) -> Mapping[Value, NDArray[Any]]:
        return dict(self._arrays.items())
