"""Random models whose gathers and scatters have computed indices, of open and empty dimensions and nasty numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import openvino as ov
from openvino import Output
from openvino import opset16 as ops

Item = TypeVar("Item")
Dim = int | str
"""A size, or the name of one: a name that starts with "?" is what computing turns out, any other is the tester's choice."""

INTEGERS = ("i32", "i64")
SMALL_INTEGERS = ("i8", "u8")
NASTY = (-(2**31), 2**31 - 1, 2**24 + 1, -(2**24) - 1, -1, 0, 1, 255, 256)
NASTY_FRACTIONS = (np.nan, np.inf, -np.inf, 3e9, -3e9, 1e30, 2.0**24 + 2, -0.5, 0.5, 0.999, 2.5, -1.0, 0.0)
MOST_ELEMENTS = 4000
"""A value whose elements may be more is not built upon."""
LARGEST_SIZE = 9
"""The greatest size that a tester chooses for an open dimension."""


@dataclass(frozen=True)
class Value:
    """An output of a node, and the size of each dimension or its name: equal names are equal sizes."""

    output: Output
    dims: tuple[Dim, ...]

    @property
    def kind(self) -> str:
        return str(self.output.get_element_type().get_type_name())

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def most_elements(self) -> int:
        return int(np.prod([dim if isinstance(dim, int) else LARGEST_SIZE for dim in self.dims], dtype=np.int64))


@dataclass(frozen=True)
class Given:
    """A Parameter of a random model: its name, element type and dimensions."""

    name: str
    kind: str
    dims: tuple[Dim, ...]


@dataclass(frozen=True)
class Inner:
    """A gather in a body, along axis 0 of data outside. Its indices are listed in an output outside, too.

    when: is true where the body has run; None where the output says so itself.
    """

    name: str
    index: Output
    data: Output
    when: Output | None = None


@dataclass
class Inputs:
    """The inputs of a random model. `sizes`: the least and greatest of each open dimension."""

    inputs: list[Given]
    sizes: dict[str, tuple[int, int]]


@dataclass
class Sample(Inputs):
    """A random model with what one needs to make inputs for it."""

    model: ov.Model
    inner: list[Inner]


@dataclass
class Builder:
    """The values and Parameters of a model so far."""

    rng: np.random.Generator
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    counts: list[Value] = field(default_factory=list)
    inputs: list[Given] = field(default_factory=list)
    parameters: list[ov.Node] = field(default_factory=list)
    sinks: list[ov.Node] = field(default_factory=list)
    variables: list[Any] = field(default_factory=list)
    inner: list[Inner] = field(default_factory=list)
    sites: int = 0
    unnamed: int = 0

    def pick(self, *choices: Item) -> Item:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def dim(self) -> Dim:
        """A size for a Parameter: fixed, or one of the open ones."""
        if self.sizes and self.chance(0.55):
            return self.pick(*self.sizes)
        return self.pick(1, 2, 3, 4, 5, 7)

    def parameter(self, kind: str, dims: Sequence[Dim]) -> Value:
        shape = [self._declared(dim) for dim in dims]
        node = ops.parameter(ov.PartialShape(shape), getattr(ov.Type, kind), name=f"x{len(self.parameters)}")
        node.output(0).set_names({f"x{len(self.parameters)}"})
        self.inputs.append(Given(f"x{len(self.parameters)}", kind, tuple(dims)))
        self.parameters.append(node)
        return self.add(node.output(0), dims)

    def _declared(self, dim: Dim) -> ov.Dimension:
        if isinstance(dim, int):
            return ov.Dimension(dim)
        low, high = self.sizes[dim]
        return ov.Dimension(-1) if (low, high) == (0, LARGEST_SIZE) else ov.Dimension(low, high)

    def known(self, output: Output | ov.Node, dims: Sequence[Dim] = ()) -> Value:
        """Name the dimensions of an output, by those given where OpenVINO does not know them."""
        output = output if isinstance(output, Output) else output.output(0)
        found: list[Dim] = []
        for position, dim in enumerate(output.get_partial_shape()):
            if dim.is_static:
                found.append(dim.get_length())
            elif position < len(dims) and isinstance(dims[position], str):
                found.append(dims[position])
            else:
                self.unnamed += 1
                found.append(f"?{self.unnamed}")
        return Value(output, tuple(found))

    def add(self, output: Output | ov.Node, dims: Sequence[Dim] = ()) -> Value:
        """Offer an output to what comes next, unless it may be large."""
        value = self.known(output, dims)
        if value.most_elements <= MOST_ELEMENTS and value.rank <= 4:
            self.values.append(value)
        return value

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 4) -> Value:
        """A value of these kinds, mostly one of the last; a new Parameter where there is none."""
        fitting = [v for v in self.values if (not kinds or v.kind in kinds) and least_rank <= v.rank <= most_rank]
        if not fitting or self.chance(0.04):
            return self.parameter(self.pick(*(kinds or INTEGERS)), [self.dim() for _ in range(max(least_rank, 1))])
        return self.pick(*fitting[-3:]) if self.chance(0.6) else self.pick(*fitting)

    def integers(self, **ranks: int) -> Value:
        return self.value(*INTEGERS, **ranks)

    def as_kind(self, value: Value, kind: str) -> Value:
        return value if value.kind == kind else self.known(ops.convert(value.output, kind), value.dims)

    def axis(self, value: Value) -> int:
        return int(self.rng.integers(value.rank))

    def either_end(self, axis: int, rank: int) -> int:
        """The axis counted from the front or from the back."""
        return self.pick(axis, axis - rank)

    def count(self) -> Value:
        """A scalar that is a size, or computed of sizes, so that it may say how large something is to be."""
        if not self.counts or self.chance(0.4):
            value = self.value(least_rank=1)
            return self.size_of(value, self.axis(value))
        return self.pick(*self.counts)

    def size_of(self, value: Value, axis: int, kind: str = "") -> Value:
        """The size of a dimension, as models read it: a scalar."""
        kind = kind or self.pick(*INTEGERS)
        shape = ops.shape_of(value.output, kind)
        way = self.pick("gather", "gather", "slice", "strided")
        if way == "gather":
            found = ops.gather(shape, constant(self.either_end(axis, value.rank), "i64"), constant(0, "i64"))
        elif way == "slice":
            ends = [constant([number], "i64") for number in (axis, axis + 1, 1, 0)]
            found = ops.squeeze(ops.slice(shape, *ends), constant(0, "i64"))
        else:
            ends = [constant([number], "i64") for number in (axis, axis + 1, 1)]
            found = ops.strided_slice(shape, *ends, [0], [0], [], [1], [])
        size = self.known(found)
        self.counts.append(size)
        return size


def constant(elements: Any, kind: str) -> Output:
    """A constant; what a narrow type cannot hold wraps around."""
    dtype = getattr(ov.Type, kind).to_dtype()
    array = np.array(elements)
    with np.errstate(invalid="ignore"):
        return ops.constant(array.astype(np.int64).astype(dtype) if array.dtype.kind == "i" else array.astype(dtype)).output(0)


Operation = Callable[[Builder], object]


def weighted(builder: Builder, choices: Iterable[tuple[int, Item]]) -> Item:
    weights, items = zip(*choices, strict=True)
    return items[int(builder.rng.choice(len(items), p=np.array(weights) / sum(weights)))]
