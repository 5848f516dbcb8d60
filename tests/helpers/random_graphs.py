"""The builder of random graphs, whatever they become: typed values, open and empty dimensions, nasty numbers.

`random_openvino` and `random_onnx` emit them. An operation has the name and the operands of `openvino.opset16` in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Dim = int | str
"""A size, or the name of one: the tester chooses it, unless the name starts with "?"; then it is computed."""

INTEGERS = ("i32", "i64")
NASTY = (-(2**31), 2**31 - 1, 2**24 + 1, -(2**24) - 1, -1, 0, 1, 255, 256)
NASTY_FRACTIONS = (np.nan, np.inf, -np.inf, 3e9, -3e9, 1e30, 2.0**24 + 2, -0.5, 0.5, 0.999, 2.5, -1.0, 0.0)
MOST_ELEMENTS = 4000
"""A value that may have more elements is not built upon."""
LARGEST_SIZE = 9
"""The greatest size that a tester chooses for an open dimension."""


@dataclass(frozen=True)
class Value:
    """A value of a graph, and the size of each dimension or its name: equal names are equal sizes.

    handle: an Output of OpenVINO, or a name in an ONNX model.
    """

    handle: Any
    kind: str
    dims: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def most_elements(self) -> int:
        return int(np.prod([dim if isinstance(dim, int) else LARGEST_SIZE for dim in self.dims], dtype=np.int64))


@dataclass(frozen=True)
class Given:
    """An input of a random model: its name, element type and dimensions."""

    name: str
    kind: str
    dims: tuple[Dim, ...]


@dataclass
class Inputs:
    """The inputs of a random model. `sizes`: the least and greatest of each open dimension."""

    inputs: list[Given]
    sizes: dict[str, tuple[int, int]]


class Chooser:
    """Choices by random numbers."""

    rng: np.random.Generator

    def pick(self, *choices: Item) -> Item:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)


class Builder(Chooser, ABC):
    """The values and inputs of a graph so far. The class attributes are the choices that differ between emitters."""

    integers: tuple[str, ...] = INTEGERS
    numbers: tuple[str, ...] = (*INTEGERS, *INTEGERS, "i8", "u8", "f32")
    moved: tuple[str, ...] = (*INTEGERS, *INTEGERS, "f32", "boolean", "u8")
    casts: tuple[str, ...] = ("i32", "i64", "f32", "boolean", "u8", "i8", "i64", "i32")
    binaries: tuple[str, ...] = ("add", "subtract", "multiply", "minimum", "maximum")
    unaries: tuple[str, ...] = ("abs", "negative", "sign", "relu")
    of_fractions: tuple[str, ...] = ("floor", "ceiling", "sqrt", "sigmoid", "tanh", "exp", "sin", "round", "softmax")
    reductions: tuple[str, ...] = ("max", "min", "sum", "sum", "prod", "mean", "l1")
    pad_modes: tuple[str, ...] = ("constant", "constant", "edge", "reflect")
    scatters: tuple[str, ...] = ("none", "none", "add", "mul", "min", "max")
    tuple_scatters: tuple[str, ...] = ("none", "add", "max", "min")
    shares: tuple[int, int, int] = (60, 60, 4)
    """The weights of operations on numbers, of moves, and of bodies."""
    between: tuple[int, int] = (0, 5)
    """The least and, plus one, the greatest number of operations before a gather."""
    far: tuple[int, ...] = (2**31 - 1,)
    """Ends of slices that are far behind the last element."""

    def __init__(self, rng: np.random.Generator, sizes: dict[str, tuple[int, int]]) -> None:
        self.rng, self.sizes = rng, sizes
        self.values: list[Value] = []
        self.counts: list[Value] = []
        self.inputs: list[Given] = []
        self.sites = 0

    @abstractmethod
    def parameter(self, kind: str, dims: Sequence[Dim]) -> Value:
        """Add an input."""

    @abstractmethod
    def constant(self, elements: Any, kind: str) -> Value:
        """Return a constant; numbers beyond a narrow type wrap around."""

    @abstractmethod
    def outputs(self, name: str, *operands: Any, dims: Sequence[Dim] | None = None, opset: Any = None) -> list[Value]:
        """Add an operation and return its outputs. Raises RuntimeError if the operands do not go together.

        dims: names of dimensions whose sizes are unknown; those of the operand of the greatest rank if None.
        """

    def make(self, name: str, *operands: Any, dims: Sequence[Dim] | None = None, opset: Any = None) -> Value:
        return self.outputs(name, *operands, dims=dims, opset=opset)[0]

    def add(self, name: str, *operands: Any, dims: Sequence[Dim] | None = None, opset: Any = None) -> Value:
        """Add an operation whose output other operations may take."""
        return self.offer(self.make(name, *operands, dims=dims, opset=opset))

    def offer(self, value: Value) -> Value:
        if value.most_elements <= MOST_ELEMENTS and value.rank <= 4:
            self.values.append(value)
        return value

    def weighted(self, choices: Iterable[tuple[int, Item]]) -> Item:
        weights, items = zip(*choices, strict=True)
        return items[int(self.rng.choice(len(items), p=np.array(weights) / sum(weights)))]

    def attempt(self, choices: Iterable[tuple[int, Operation]]) -> None:
        """Add one of some operations, unless it refuses its operands."""
        try:
            self.weighted(choices)(self)
        except RuntimeError:
            return

    def dim(self) -> Dim:
        """Choose a size for an input: fixed or open."""
        return self.pick(*self.sizes) if self.sizes and self.chance(0.55) else self.pick(1, 2, 3, 4, 5, 7)

    def number(self, kind: str) -> float:
        """Choose a number for a constant: mostly a small one."""
        if kind == "f32":
            return self.pick(*NASTY_FRACTIONS) if self.chance(0.3) else round(float(self.rng.normal(0, 4)), 2)
        return self.pick(*NASTY) if self.chance(0.2) else int(self.rng.integers(-9, 10))

    def line(self, kind: str, shape: Sequence[int]) -> Value:
        """Return a constant of random numbers."""
        return self.constant(np.reshape([self.number(kind) for _ in range(int(np.prod(shape)))], shape), kind)

    def fitting(self, kinds: Sequence[str], least_rank: int, most_rank: int) -> list[Value]:
        return [v for v in self.values if (not kinds or v.kind in kinds) and least_rank <= v.rank <= most_rank]

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 4) -> Value:
        """Choose a value of these kinds, mostly one of the last; a new input if there is none."""
        fitting = self.fitting(kinds, least_rank, most_rank)
        if not fitting or self.chance(0.04):
            return self.parameter(self.pick(*(kinds or INTEGERS)), [self.dim() for _ in range(max(least_rank, 1))])
        return self.pick(*fitting[-3:]) if self.chance(0.6) else self.pick(*fitting)

    def integer(self, **ranks: int) -> Value:
        return self.value(*self.integers, **ranks)

    def cast(self, elements: Any, dtype: Any) -> np.ndarray:
        """Return an array of a type; numbers beyond a narrow type wrap around."""
        array = np.array(elements)
        with np.errstate(invalid="ignore"):
            return array.astype(np.int64).astype(dtype) if array.dtype.kind == "i" else array.astype(dtype)

    def operand(self, value: Value) -> Value:
        """Choose an operand of the same type that is broadcast to a value: a constant, a size, or a value of the same size."""
        same = [v for v in self.values if v.kind == value.kind and v.dims == value.dims and v != value]
        way = self.pick("number", "number", "line", "size", "same", "same")
        if way == "same" and same:
            return self.pick(*same)
        if way == "size" and value.kind in INTEGERS:
            return self.as_kind(self.count(), value.kind)
        last = value.dims[-1] if value.rank else "?"
        return self.line(value.kind, (last,) if way == "line" and isinstance(last, int) else ())

    def as_kind(self, value: Value, kind: str) -> Value:
        return value if value.kind == kind else self.make("convert", value, kind)

    def axis(self, value: Value) -> int:
        return int(self.rng.integers(value.rank))

    def either_end(self, axis: int, rank: int) -> int:
        """Count an axis from the front or from the back."""
        return self.pick(axis, axis - rank)

    def longs(self, *numbers: int) -> Value:
        return self.constant(np.array(numbers, np.int64), "i64")

    def width(self, value: Value) -> int | None:
        """Return the size of the last dimension, if it is known."""
        return value.dims[-1] if isinstance(value.dims[-1], int) else None

    def count(self) -> Value:
        """Return a scalar that is a size, or computed of sizes, so that it may say how large something is to be."""
        if not self.counts or self.chance(0.4):
            value = self.value(least_rank=1)
            return self.size_of(value, self.axis(value))
        return self.pick(*self.counts)

    def size_of(self, value: Value, axis: int, kind: str = "") -> Value:
        """Return the size of a dimension, as models read it: a scalar."""
        shape = self.make("shape_of", value, kind or self.pick(*INTEGERS))
        way = self.pick("gather", "gather", "slice")
        if way == "gather":
            at = self.constant(self.either_end(axis, value.rank), "i64")
            size = self.make("gather", shape, at, self.constant(0, "i64"), dims=())
        else:
            part = self.make("slice", shape, *map(self.longs, (axis, axis + 1, 1, 0)), dims=())
            size = self.make("squeeze", part, self.longs(0), dims=())
        self.counts.append(size)
        return size

    def vector(self, scalars: Iterable[Value]) -> Value:
        """Return a vector of scalars."""
        return self.make("concat", [self.make("unsqueeze", self.as_kind(one, "i64"), self.longs(0)) for one in scalars], 0)


Operation = Callable[[Any], object]
