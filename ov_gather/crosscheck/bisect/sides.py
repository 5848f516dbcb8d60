"""The two sides of a bisection. A side executes its model, or a part of it, and returns requested values.

Everything is executed in worker processes, so that a crash is an observation like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import Array, Extracted, ObservedBody, observed
from ov_gather.crosscheck.bisect.graphs import ValueGraph, arrays_graph
from ov_gather.graph.protocol import Body, Key, Node
from ov_gather.runtimes.base import RefusedError

Arrays = Mapping[str, NDArray[Any]]


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

    def with_exact_products(self) -> Part | None:
        """Return the part with products of bytes that no kernel saturates; None if it has none that one may saturate."""
        return None

    @abstractmethod
    def write(self, folder: Path, stem: str) -> Path:
        """Write the part to a folder, and return the path. Raises OSError."""


class Side(ABC):
    """A model on a runtime, with inputs. `outputs` are those of an earlier execution; empty if there was none."""

    graph: ValueGraph
    title: str
    runs: int = 0
    _inputs: Arrays
    outputs: Mapping[Key, NDArray[Any]] = MappingProxyType({})

    @abstractmethod
    def observe(self, values: Sequence[Key], *, plain: bool = False) -> dict[Key, NDArray[Any]]:
        """Return some values and all outputs; with `plain`, executed on one thread and without optimisation.

        Raises RefusedError, CrashedError, IndexError.
        """

    def repeated(self, times: int) -> list[dict[Key, NDArray[Any]]]:
        """Return the outputs of several inferences of one session. Raises RefusedError, CrashedError, IndexError."""
        return [dict(self.outputs)] * times

    def without_quantisation(self) -> Mapping[Key, NDArray[Any]]:
        """Return the outputs of the model without dynamic quantisation; nothing if it has none.

        Raises RefusedError, CrashedError.
        """
        return {}

    def part(self, inputs: Mapping[Key, Replacement], outputs: Mapping[Key, str]) -> Part | None:
        """Extract the nodes that compute `outputs` from `inputs`; None if that is impossible."""
        return None

    def constant(self, value: Key) -> NDArray[Any] | None:
        """Return a constant of the model; None for other values, and if it is unreadable."""
        return None if self.graph.graph is None else self.graph.graph.constant(value)

    def computed_from(self, given: Mapping[Key, Replacement], output: Key) -> NDArray[Any] | None:
        """Return an output with some values replaced; None if that is impossible.

        Raises RefusedError, CrashedError, IndexError.
        """
        return None

    def body(self, value: Key, array: Array) -> ObservedBody | None:
        """Return the body of the sub-graph that computes a value; None if it cannot be extracted.

        `array` returns the values outside of the body.
        """
        node, graph = self.graph.producers.get(value), self.graph.graph
        return None if node is None or graph is None else observed(graph, node, array, partial(self._extract, node))

    def _extract(self, node: Node, body: Body, given: Mapping[Key, NDArray[Any]]) -> Extracted:
        """Make a separate model of a body, given the tensors that enter it."""
        raise AssertionError("this side has no bodies")

    def inside(self, body: ObservedBody) -> Side:
        """Return the side of a body."""
        raise AssertionError("this side has no bodies")

    def prefix(self, values: Sequence[Key]) -> dict[Key, NDArray[Any]]:
        """Return some values by executing only what they depend on. Raises RefusedError, CrashedError, IndexError."""
        given = self._given()
        wanted = [value for value in dict.fromkeys(values) if value not in given]
        part = self.part({}, {value: self.graph.label(value) for value in wanted}) if wanted else None
        if part is None:
            return {value: given[value] for value in values}
        self.runs += 1
        found = dict(zip(wanted, part.run(self._inputs_of(part)), strict=True))
        return {value: found[value] if value in found else given[value] for value in values}

    def value(self, value: Key) -> NDArray[Any]:
        """Return a constant, or a value computed by executing only what it depends on. Raises as `prefix`."""
        constant = self.constant(value)
        return self.prefix([value])[value] if constant is None else constant

    def _given(self) -> Mapping[Key, NDArray[Any]]:
        """Return the values that are known without execution."""
        return {value: self._inputs[name] for name, value in self.graph.inputs.items()}

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        """Return the model's inputs that a part without replaced values needs, unless the part has them as `rest`."""
        return []


class ArraysSide(Side):
    """Precomputed arrays, by the names of values. They have no parts, and no array is known to be constant."""

    def __init__(self, arrays: Arrays, inputs: Arrays) -> None:
        self._inputs, self._arrays = inputs, {**arrays, **inputs}
        self.graph, self.title = arrays_graph(self._arrays, inputs.keys()), "arrays"

    def observe(self, values: Sequence[Key], *, plain: bool = False) -> dict[Key, NDArray[Any]]:
        """Return the arrays. They cannot be recomputed, so `plain` is refused."""
        if plain:
            raise RefusedError("arrays cannot be computed again")
        return dict(self._arrays.items())

    def _given(self) -> Mapping[Key, NDArray[Any]]:
        return dict(self._arrays.items())
