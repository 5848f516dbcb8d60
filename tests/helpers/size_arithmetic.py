"""Random arithmetic of sizes, as trees that NumPy evaluates for sizes of any magnitude without a tensor of that size.

Integers are Python's, and each result is wrapped around as the runtime does. Of a vector, only the elements at some positions
are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.random_graphs import Chooser, Given

LARGEST_DIM = 1 << 23
LARGEST_OPEN_DIM = 1 << 24
LARGEST_COUNT = 2**31 - 1
"""What docs/background/proofs.md assumes: the sizes of inputs, of other open dimensions, and of whole tensors."""
EXACT = 1 << 24
LIMITS = (0, 1, 2, 3, 5, 127, 128, 255, 256, 2047, 2048, 4097, 32767, 32768, 46340, 46341, 65535, 65536, 2**20, 2**22, 2**23)
NUMBERS = (-1, 0, 1, 2, 3, 5, 7, 100, 255, 256, 2**15, 2**16, 2**20, 2**24, 2**30, 2**31 - 1)
SAMPLED = 40
"""The number of elements of a vector that are computed."""

Integers = NDArray[Any]
BITS = {"i8": 8, "u8": 8, "i16": 16, "i32": 32, "i64": 64}


@dataclass(frozen=True)
class Tree:
    """One operation: its name, its operands, and what else it needs, e.g. the number of a constant."""

    name: str
    operands: tuple[Tree, ...] = ()
    detail: Any = None

    def __iter__(self) -> Iterator[Tree]:
        for operand in self.operands:
            yield from operand
        yield self

    def __str__(self) -> str:
        operands = ", ".join(map(str, self.operands))
        return f"{self.name}{'' if self.detail is None else f'<{self.detail}>'}({operands})"


@dataclass
class Trial:
    """Sizes and elements of the inputs.

    Attributes:
        shapes: the shape of each input.
        numbers: the elements of the inputs that are scalars.
        non_zero: the number of non-zero elements of each input.
        counts_back: whether Range counts from 0 to -5 as far as from 0 to 5, as the CPU plugin does, or nothing, as ONNX says.
        saturates: whether a conversion keeps what its type does not hold at the nearest end, rather than its lowest bits.
        static: the dimensions that the model fixes, of which OpenVINO computes constants as ONNX says.
        exact: whether all that is computed so far is exact in float32, too.
    """

    shapes: Mapping[str, tuple[int, ...]]
    numbers: Mapping[str, int]
    non_zero: Mapping[str, int]
    counts_back: bool
    saturates: bool
    static: frozenset[tuple[str, int]]
    exact: bool = True
    vectors: dict[Tree, Integers] = field(default_factory=dict)

    def number_of_non_zero(self, name: str) -> int:
        if self.non_zero[name] > LARGEST_OPEN_DIM:
            raise OutsideError
        return self.non_zero[name]


def dims_of(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    return {f"dim({name}, {axis})": size for name, shape in shapes.items() for axis, size in enumerate(shape)}


class OutsideError(Exception):
    """A trial that what proofs assume leaves out."""


def wrapped(values: Integers, kind: str) -> Integers:
    """Keep the lowest bits of integers."""
    bits = BITS[kind]
    if kind[0] == "u":
        return np.asarray(values % (1 << bits), object)
    return np.asarray((values + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1), object)


def evaluate(tree: Tree, trial: Trial, kind: str, rng: np.random.Generator) -> Integers:
    """Compute a tree in integers of a type. Raises OutsideError."""
    operands = [evaluate(operand, trial, kind, rng) for operand in tree.operands]
    work = _WORK.get(tree.name, lambda *_: getattr(np, tree.name)(*operands))
    found = wrapped(np.asarray(work(tree, trial, operands, rng), object), kind)
    everything = [found, *operands]
    trial.exact &= all(abs(int(number)) <= EXACT for one in everything for number in one.ravel())
    return found


def _count(tree: Tree, trial: Trial, operands: list[Integers], rng: np.random.Generator) -> Any:
    return int(np.prod([1, *map(int, trial.shapes[tree.detail])], dtype=object))


def _range(tree: Tree, trial: Trial, operands: list[Integers], rng: np.random.Generator) -> Any:
    """Count from 0 in steps."""
    stop = int(operands[0])
    counts_back = trial.counts_back and not _is_constant(tree.operands[0], trial)
    length = -(-(abs(stop) if counts_back else max(stop, 0)) // tree.detail)
    return tree.detail * _positions(tree, trial, length, rng)


def _is_constant(tree: Tree, trial: Trial) -> bool:
    """Return True if a tree has no leaves but constants and static dimensions."""

    def is_constant(leaf: Tree) -> bool:
        if leaf.name == "count":
            return all((leaf.detail, axis) in trial.static for axis in range(len(trial.shapes[leaf.detail])))
        return leaf.name == "constant" or (leaf.name == "dim" and leaf.detail in trial.static)

    return all(is_constant(part) for part in tree if not part.operands)


def _places(tree: Tree, trial: Trial, operands: list[Integers], rng: np.random.Generator) -> Any:
    """One row of NonZero: any positions along an axis."""
    name, axis = tree.detail
    shape = trial.shapes[name]
    return _positions(tree, trial, (shape[axis] if shape else 1) if trial.number_of_non_zero(name) else 0, rng)


def _positions(tree: Tree, trial: Trial, length: int, rng: np.random.Generator) -> Integers:
    if length > LARGEST_OPEN_DIM:
        raise OutsideError
    if tree not in trial.vectors:
        trial.vectors[tree] = _some(length, rng)
    return trial.vectors[tree]


def _some(length: int, rng: np.random.Generator) -> Integers:
    """Choose positions below a length: all of them if they are few, else the ends, limits and random ones."""
    if length <= SAMPLED:
        return np.arange(length).astype(object)
    near = {0, 1, length - 2, length - 1, *(limit for limit in LIMITS if limit < length)}
    return np.array(sorted(near | set(rng.integers(0, length, SAMPLED - len(near)).tolist())), object)[:SAMPLED]


def _converted(tree: Tree, trial: Trial, operands: list[Integers], rng: np.random.Generator) -> Any:
    low, high = (0, 255) if tree.detail == "u8" else (-(1 << BITS[tree.detail] - 1), (1 << BITS[tree.detail] - 1) - 1)
    return np.clip(operands[0], low, high) if trial.saturates else wrapped(operands[0], tree.detail)


def is_fused(tree: Tree) -> bool:
    """Return True for a quotient that the CPU plugin may fuse with the ReduceProd of a count, and round to the nearest."""
    return tree.name == "divide" and _has_count(tree)


def _has_count(tree: Tree) -> bool:
    """Return True if a number is computed from a count, other than as the end of a Range, whose elements are computed anew."""
    return tree.name == "count" or (tree.name != "range" and any(map(_has_count, tree.operands)))


def _divided(tree: Tree, trial: Trial, operands: list[Integers], rng: np.random.Generator) -> Any:
    quotient = abs(operands[0]) // tree.detail
    if trial.counts_back and is_fused(tree) and rng.random() < 0.5:
        quotient = quotient + np.asarray(2 * (abs(operands[0]) % tree.detail) > tree.detail, int)
    return np.where(np.asarray(operands[0] < 0, bool), -quotient, quotient)


_Work = Callable[[Tree, Trial, list[Integers], np.random.Generator], Any]
_WORK: Mapping[str, _Work] = {
    "constant": lambda tree, trial, operands, rng: tree.detail,
    "number": lambda tree, trial, operands, rng: trial.numbers[tree.detail],
    "dim": lambda tree, trial, operands, rng: trial.shapes[tree.detail[0]][tree.detail[1]],
    "count": _count,
    "true": lambda tree, trial, operands, rng: trial.number_of_non_zero(tree.detail),
    "range": _range,
    "places": _places,
    "select": lambda tree, trial, operands, rng: np.where(np.asarray(operands[0] < operands[1], bool), *operands[2:]),
    "convert": _converted,
    "divide": _divided,
    "remainder": lambda tree, trial, operands, rng: operands[0] % tree.detail,
}


class Grower(Chooser):
    """Grows random trees over some inputs; one vector at most is in a tree, so that all vectors have its positions."""

    def __init__(self, rng: np.random.Generator, sources: list[Given]) -> None:
        self.rng, self._sources = rng, sources
        self._arrays = [source for source in sources if source.name != "t" and source.dims]
        self._scalars = [source for source in sources if not source.dims]
        self._vector: Tree | None = None

    def constant(self) -> Tree:
        return Tree("constant", (), self.pick(*NUMBERS))

    def leaf(self) -> Tree:
        array: Given = self.pick(*self._arrays)
        way = self.pick("dim", "dim", "dim", "dim", "count", "constant", "vector", "number", "true")
        if way == "vector":
            self._vector = self._vector or self._new_vector(array)
            return self._vector
        if way == "number" and self._scalars:
            return Tree("number", (), self.pick(*self._scalars).name)
        if way in ("count", "true"):
            return Tree(way, (), array.name)
        return self.constant() if way == "constant" else self._dim(array)

    def _dim(self, array: Given) -> Tree:
        return Tree("dim", (), (array.name, int(self.rng.integers(len(array.dims)))))

    def _new_vector(self, array: Given) -> Tree:
        if self.rng.random() < 0.3:
            source = self.pick(*self._arrays, *self._scalars)
            return Tree("places", (), (source.name, int(self.rng.integers(max(len(source.dims), 1)))))
        stop = self.pick(self._dim(array), self._dim(array), Tree("count", (), array.name))
        if self.rng.random() < 0.3:
            stop = Tree(self.pick("multiply", "add", "minimum"), (stop, self.pick(self.constant(), self._dim(array))))
        return Tree("range", (stop,), self.pick(1, 1, 1, 2, 3))

    def tree(self, depth: int) -> Tree:
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        way = self.pick(*("multiply",) * 5, *("add", "subtract", "minimum", "maximum") * 2, "unary", "select", "convert", "by")
        if way == "unary":
            return Tree(self.pick("negative", "absolute"), (self.tree(depth - 1),))
        if way == "convert":
            return Tree("convert", (self.tree(depth - 1),), self.pick("u8", "i8", "i32"))
        if way == "by":
            return Tree(self.pick("divide", "remainder"), (self.tree(depth - 1),), self.pick(1, 2, 3, 7, 256, 2**20))
        if way == "select":
            return Tree(way, (self.leaf(), self.leaf(), self.tree(depth - 1), self.tree(depth - 1)))
        return Tree(way, (self.tree(depth - 1), self.tree(depth - 1)))

    def index(self, size: Tree) -> Tree:
        """An index of an axis, most of the time kept in bounds if nothing wraps around."""
        found = self.tree(int(self.rng.integers(1, 4)))
        last = Tree("subtract", (size, Tree("constant", (), self.pick(1, 1, 1, 0))))
        low = Tree("constant", (), self.pick(0, 0, -1))
        way = self.pick("both", "both", "minimum", "minimum", "maximum", "remainder", "as it is")
        if way in ("both", "minimum"):
            found = Tree("minimum", (found, last))
        if way in ("both", "maximum"):
            found = Tree("maximum", (found, low))
        is_constant = size.name == "constant" and size.detail > 0
        return Tree("remainder", (found,), size.detail) if way == "remainder" and is_constant else found
