"""The graph that the analysis runs on. Adapters build it from an IR, an `openvino.Model` or an ONNX model."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from ov_gather.ranges.algebra.polynomials import Number, Polynomial
from ov_gather.ranges.algebra.values import Shape, Value
from ov_gather.ranges.rules.call import TransferFunction

Key = Hashable
"""Identity of a tensor; unique across the model and its bodies."""


class EdgeKind(Enum):
    """How a tensor enters or leaves a body."""

    AS_IT_IS = "as it is"
    SLICED = "a slice along an axis for each iteration; or the slices of all iterations"
    STATE = "as it is at first, and from then on what the iteration before has made of it"
    COUNT = "the number of the iteration"


@dataclass(frozen=True, slots=True)
class BodyEdge:
    """An edge between a tensor outside of a body and one inside: an entry or an exit.

    Attributes:
        outer: the tensor outside; None for the iteration counter.
        inner: the tensor in the body.
        next: for a carried value, the tensor in the body at the source of the back edge.
    """

    outer: Key | None
    inner: Key
    kind: EdgeKind = EdgeKind.AS_IT_IS
    next: Key | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A body of an operation: a branch of If, or what Loop, Scan and TensorIterator repeat.

    Attributes:
        entries, exits: the edges into and out of it.
        wanted: further tensors of the body to analyse.
        condition: for a branch, the value of the first input of If that selects it; otherwise None.
    """

    entries: Sequence[BodyEdge]
    exits: Sequence[BodyEdge]
    wanted: Sequence[Key] = ()
    condition: bool | None = None

    @property
    def ends(self) -> list[Key]:
        """The tensors that the body is analysed for: exits, sources of back edges, and `wanted`."""
        carried = [edge.next for edge in self.entries if edge.next is not None]
        return [*(edge.inner for edge in self.exits), *carried, *self.wanted]


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a graph.

    Attributes:
        name: the display name.
        type: the type of the operation.
        rule: the transfer function; None if outputs keep their declared values.
        reads_shapes_only: True if the outputs depend on the shapes of the inputs alone.
        bodies: the branches of an If, or the body of a loop.
        repeats: True for a loop.
        trips: the tensor that holds the maximum trip count of a loop.
    """

    name: str
    type: str
    inputs: Sequence[Key | None]
    outputs: Sequence[Key]
    rule: TransferFunction | None = None
    reads_shapes_only: bool = False
    bodies: Sequence[Body] = field(default=())
    repeats: bool = False
    trips: Key | None = None


class Graph(Protocol):
    """A model with its bodies.

    Attributes:
        bounds: lower and upper bound of each dynamic dimension that `declared` has named so far.
        answers: the answers to questions about tensors, by the name of the question: see `origins`.
    """

    bounds: dict[str, tuple[int, Number]]
    answers: dict[str, dict[Key, bool]]

    @property
    def inputs(self) -> Mapping[str, Key]:
        """The inputs of the model, by name."""

    def step_of(self, key: Key) -> Step | None:
        """Return the operation that produces a tensor; None for inputs, constants and entries of a body."""

    def declared(self, key: Key) -> Value:
        """Return what the model declares: type, shape with a name for each dynamic dimension, elements of a constant."""

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor."""


def named_shape(name: str, dims: Iterable[tuple[int, Number]], bounds: dict[str, tuple[int, Number]]) -> Shape:
    """Return the shape of a tensor from the least and the greatest size of each axis; `bounds` gets those of dynamic ones."""
    shape = []
    for axis, (low, high) in enumerate(dims):
        if low == high:
            shape.append(Polynomial.constant(low))
        else:
            shape.append(Polynomial.name(f"dim({name}, {axis})"))
            bounds[f"dim({name}, {axis})"] = low, high
    return tuple(shape)


def has_dynamic_shape(value: Value) -> bool:
    """Return True if the rank or a dimension is dynamic."""
    return value.shape is None or any(dim.value is None for dim in value.shape)


def in_order(graph: Graph, wanted: Iterable[Key], *, without: Container[Key] = ()) -> list[Step]:
    """Return the steps that the tensors depend on, in topological order.

    Steps whose first output is in `without`, and what they depend on, are left out. Cycles of a broken model are cut.
    """
    found: dict[Key, Step] = {}
    seen: set[Key] = set()
    waiting: list[tuple[Key, bool]] = [(key, False) for key in wanted]
    waiting.reverse()
    while waiting:
        key, is_ready = waiting.pop()
        step = graph.step_of(key)
        if step is None:
            continue
        first = step.outputs[0] if step.outputs else key
        if is_ready:
            found.setdefault(first, step)
        elif first not in seen and first not in without:
            seen.add(first)
            waiting.append((key, True))
            waiting += [(given, False) for given in operands(graph, step)]
    return list(found.values())


def operands(graph: Graph, step: Step) -> list[Key]:
    """Return the inputs that a step depends on; without those that it reads only the shape of, if that is static."""
    given = [key for key in step.inputs if key is not None]
    return [key for key in given if has_dynamic_shape(graph.declared(key))] if step.reads_shapes_only else given
