"""The analysis sees a graph in this form, whichever format it has. An adapter makes it of a model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from ov_gather.ranges.algebra.polynomials import Number
from ov_gather.ranges.algebra.values import Value
from ov_gather.ranges.rules.call import Rule

Key = Hashable
"""The identity of a tensor: a tensor of a body has another one than any outside."""


class Way(Enum):
    """A Way says how a tensor gets into a body, or out of it."""

    AS_IT_IS = "as it is"
    SLICED = "a slice along an axis for each iteration; or the slices of all iterations"
    STATE = "as it is at first, and from then on what the iteration before has made of it"
    COUNT = "the number of the iteration"


@dataclass(frozen=True, slots=True)
class Passage:
    """A Passage leads a tensor into a body or out of it.

    Attributes:
        outer: the tensor outside; None for the number of the iteration.
        inner: the tensor in the body.
        next: of a state, the tensor of the body that the next iteration starts from.
    """

    outer: Key | None
    inner: Key
    way: Way = Way.AS_IT_IS
    next: Key | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A Body is a graph in an operation: a branch of If, or what Loop, Scan and TensorIterator repeat.

    Attributes:
        wanted: tensors of the body that are to be known beside those that get out of it.
        condition: of a branch, the value of the first input of its operation with which it is executed; None where it is none.
    """

    arrivals: Sequence[Passage]
    departures: Sequence[Passage]
    wanted: Sequence[Key] = ()
    condition: bool | None = None

    @property
    def ends(self) -> list[Key]:
        """The tensors for which the body is gone through."""
        carried = [passage.next for passage in self.arrivals if passage.next is not None]
        return [*(passage.inner for passage in self.departures), *carried, *self.wanted]


@dataclass(frozen=True, slots=True)
class Step:
    """A Step is one operation of a graph.

    Attributes:
        name: what people call the operation.
        type: the type of the operation.
        rule: what is known of the outputs from the inputs; None where that is nothing.
        looks_at_shapes: whether the outputs depend on no element of the inputs.
        bodies: of them one or more are executed; `repeats` says whether that is as often as a loop does.
        trips: the tensor that says at most how often a loop repeats its body.
    """

    name: str
    type: str
    inputs: Sequence[Key | None]
    outputs: Sequence[Key]
    rule: Rule | None = None
    looks_at_shapes: bool = False
    bodies: Sequence[Body] = field(default=())
    repeats: bool = False
    trips: Key | None = None


class Graph(Protocol):
    """A Graph is a model with its bodies.

    Attributes:
        bounds: the least and the greatest value of the names of open dimensions, as far as they were asked for.
    """

    bounds: dict[str, tuple[int, Number]]

    @property
    def inputs(self) -> Mapping[str, Key]:
        """The inputs of the model, by name."""

    def step_of(self, key: Key) -> Step | None:
        """Give the operation that makes a tensor; None for inputs, constants and tensors that get into a body."""

    def declared(self, key: Key) -> Value:
        """Give what the model itself says: the type, the shape with a name for each open dimension, a constant's elements."""

    def name_of(self, key: Key) -> str:
        """Name a tensor as people do."""


def has_open_shape(value: Value) -> bool:
    """Whether a dimension is not a number."""
    return value.shape is None or any(dim.value is None for dim in value.shape)


def in_order(graph: Graph, wanted: Iterable[Key], *, shapes: Iterable[Key] = ()) -> list[Step]:
    """List the steps that lead to some tensors, each behind those that feed it.

    Where only the shape of a tensor is wanted, and the model tells it, nothing is listed for it. In a broken model a step may
    lead to itself; then it is listed once.
    """
    found: dict[Key, Step] = {}
    seen: set[Key] = set()
    waiting: list[tuple[Key, bool]] = [(key, False) for key in wanted]
    waiting += [(key, False) for key in shapes if has_open_shape(graph.declared(key))]
    waiting.reverse()
    while waiting:
        key, is_ready = waiting.pop()
        step = graph.step_of(key)
        if step is None:
            continue
        first = step.outputs[0] if step.outputs else key
        if is_ready:
            found.setdefault(first, step)
        elif first not in seen:
            seen.add(first)
            waiting.append((key, True))
            waiting += [
                (given, False)
                for given in step.inputs
                if given is not None and not (step.looks_at_shapes and not has_open_shape(graph.declared(given)))
            ]
    return list(found.values())
