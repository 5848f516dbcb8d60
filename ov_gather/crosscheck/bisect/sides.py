"""The two sides of a bisection. A side executes its model, or a part of it, and tells the values that it is asked for.

Everything is executed in worker processes: a runtime that crashes is an observation like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import Array, Body
from ov_gather.crosscheck.bisect.graphs import Graph, Value, arrays_graph
from ov_gather.runtimes.base import RefusedError

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Given:
    """A Given is the array that takes the place of a value, and the name of the input that it becomes."""

    name: str
    array: NDArray[Any]


class Part(ABC):
    """A Part is a piece of a model that is a model of its own. `rest` holds inputs that it has been given already, by name."""

    rest: Arrays = MappingProxyType({})

    @abstractmethod
    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute it. Raises RefusedError, CrashedError, IndexError."""

    @abstractmethod
    def write(self, folder: Path, stem: str) -> Path:
        """Write it to a folder, and give the path. Raises OSError."""


class Side(ABC):
    """A Side is a model on a runtime, with inputs."""

    graph: Graph
    title: str
    runs: int = 0

    @abstractmethod
    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Compute some values, and the outputs; if `plain`, on one thread and without optimisation.

        Raises RefusedError, CrashedError, IndexError.
        """

    @abstractmethod
    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Cut out what computes some values from others; None where that cannot be done."""

    @abstractmethod
    def constant(self, value: Value) -> NDArray[Any] | None:
        """Read a value that the model states; None for others, and where it cannot be read."""

    @abstractmethod
    def computed_from(self, given: Mapping[Value, Given], output: Value) -> NDArray[Any] | None:
        """Compute an output where some values are others; None where that cannot be done.

        Raises RefusedError, CrashedError, IndexError.
        """

    def body(self, value: Value, array: Array) -> Body | None:
        """Give the body of the sub-graph that computes a value; None where that cannot be done."""
        return None

    def inside(self, body: Body) -> Side:
        """Give the side of a body."""
        raise AssertionError("this side has no bodies")

    def prefix(self, values: Sequence[Value]) -> dict[Value, NDArray[Any]]:
        """Compute some values by executing no more than what they depend on. Raises RefusedError, CrashedError, IndexError."""
        given = self._given()
        wanted = [value for value in dict.fromkeys(values) if value not in given]
        part = self.part({}, {value: self.graph.label(value) for value in wanted}) if wanted else None
        if part is None:
            return {value: given[value] for value in values}
        self.runs += 1
        found = dict(zip(wanted, part.run(self._inputs_of(part)), strict=True))
        return {value: found[value] if value in found else given[value] for value in values}

    @abstractmethod
    def _given(self) -> Mapping[Value, NDArray[Any]]:
        """The values that are known without executing anything."""

    @abstractmethod
    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        """Select the inputs that a part without inputs of its own has left."""


class ArraysSide(Side):
    """Arrays that were computed elsewhere, by the names of the values that they are."""

    def __init__(self, arrays: Arrays, inputs: Arrays) -> None:
        self._arrays = {**arrays, **inputs}
        self.graph, self.title = arrays_graph(self._arrays, inputs.keys()), "arrays"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Select arrays. There is no other way to compute them."""
        if plain:
            raise RefusedError("arrays cannot be computed again")
        return dict(self._arrays.items())

    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Arrays have no parts."""
        return None

    def computed_from(self, given: Mapping[Value, Given], output: Value) -> NDArray[Any] | None:
        """Nothing is known of how arrays were computed."""
        return None

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Nothing is known to be constant."""
        return None

    def _given(self) -> Mapping[Value, NDArray[Any]]:
        return dict(self._arrays.items())

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        raise AssertionError("arrays have no parts")
