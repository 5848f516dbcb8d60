"""The body of an If, Loop, Scan or TensorIterator as a model of its own, with the inputs of one iteration.

Inputs are identified by their origins outside of the body, so that the bodies of both sides can get the same values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.graph.protocol import Body, Graph, Key, Node, Passing
from ov_gather.ir.bodies import Slicing

ITERATION = "the number of the iteration"
_TRUE = "true"
"""Origins of the number of the iteration, and of the condition of a Loop that has no such input."""

Array = Callable[[Key], "NDArray[Any] | None"]
"""Returns the array of a value outside of the body; None if unknown."""


@dataclass(frozen=True, slots=True)
class SliceOrigin:
    """Origin of an input that gets another slice of an outside value in each iteration."""

    value: Key


Origin = Key | SliceOrigin


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
    carried: Mapping[str, Key] = field(default_factory=dict)
    condition: Key | None = None
    results: Mapping[Key, Key] = field(default_factory=dict)
    joined: Mapping[Key, Joined] = field(default_factory=dict)

    def next_states(self, found: Mapping[Key, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
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
class Extracted:
    """A body as a separate model.

    Attributes:
        model: the model.
        names: for each tensor that enters the body, in the order of the model's inputs, the name of the input.
        value: returns the value of the model for a tensor in the body.
    """

    model: Any
    names: Mapping[Key, str]
    value: Callable[[Key], Key]


def observed(
    graph: Graph, node: Node, array: Array, extract: Callable[[Body, Mapping[Key, NDArray[Any]]], Extracted]
) -> ObservedBody | None:
    """Return the body of a node in its first iteration; None for other nodes, and if an input is unknown.

    Args:
        array: returns the values outside of the body.
        extract: makes a model of the body, given the tensors that enter it.
    """
    body = _executed(node, array)
    if body is None:
        return None
    given: dict[Key, NDArray[Any]] = {}
    origins: dict[Key, Origin] = {}
    sliced: dict[Key, Sliced] = {}
    for edge in body.entries:
        if edge.passing is Passing.COUNT:
            shape = graph.shape_of(edge.inner)
            given[edge.inner], origins[edge.inner] = np.zeros(shape.sizes if shape.is_static else (), np.int64), ITERATION
            continue
        if edge.outer is None and edge.next is not None and edge.next == body.goes_on:  # ONNX may omit the condition
            given[edge.inner], origins[edge.inner] = np.array(True), _TRUE
            continue
        found = None if edge.outer is None else array(edge.outer)
        if edge.outer is None or found is None:
            return None
        if edge.passing is Passing.SLICED:
            pieces = None if edge.slicing is None else _sliced(found, edge.slicing)
            if pieces is None or not pieces.count:
                return None
            found, sliced[edge.inner] = pieces[0], pieces
        given[edge.inner] = found
        origins[edge.inner] = SliceOrigin(edge.outer) if edge.passing is Passing.SLICED else edge.outer
    extracted = extract(body, given)
    names, value = extracted.names, extracted.value
    if not names.keys() <= given.keys():
        return None
    counts = [pieces.count for pieces in sliced.values()]
    exits = [edge for edge in body.exits if edge.outer is not None]
    return ObservedBody(
        extracted.model,
        {name: given[key] for key, name in names.items()},
        {name: origins[key] for key, name in names.items()},
        min([*counts, *_trips(node, body, array)], default=1),
        0,
        {name: sliced[key] for key, name in names.items() if key in sliced},
        {names[edge.inner]: value(edge.next) for edge in body.entries if edge.next is not None and edge.inner in names},
        None if body.goes_on is None else value(body.goes_on),
        {edge.outer: value(edge.inner) for edge in exits},
        {
            edge.outer: Joined(edge.slicing.axis, not edge.slicing.part_size, edge.slicing.stride < 0)
            for edge in exits
            if edge.slicing
        },
    )


def _executed(node: Node, array: Array) -> Body | None:
    """Return the body of a loop, or the branch that an If executes; None if its condition is unknown."""
    if node.repeats or not node.bodies:
        return next(iter(node.bodies), None)
    condition = None if node.inputs[0] is None else array(node.inputs[0])
    taken = None if condition is None else bool(condition.reshape(-1)[0])
    return next((body for body in node.bodies if body.condition is taken), None)


def _trips(node: Node, body: Body, array: Array) -> list[int]:
    """Return the maximum trip count of a Loop; in OpenVINO, unlike in onnxruntime, a negative one sets no limit."""
    if body.goes_on is None:
        return []
    trips = None if node.trips is None else array(node.trips)
    count = -1 if trips is None else int(trips.reshape(-1)[0])
    return [sys.maxsize if trips is None or (node.opset and count < 0) else count]


def _sliced(array: NDArray[Any], slicing: Slicing) -> Sliced | None:
    """Return the slices of an array; None if they overlap, or leave gaps."""
    length, start, end = array.shape[slicing.axis], slicing.start, slicing.end
    forward = slicing.stride > 0 and start == 0 and end in (-1, length)
    backward = slicing.stride < 0 and start in (-1, length - 1) and end in (0, -length - 1)
    if abs(slicing.stride) != max(slicing.part_size, 1) or not (forward or backward):
        return None
    return Sliced(array, slicing.axis, slicing.part_size, backward)
