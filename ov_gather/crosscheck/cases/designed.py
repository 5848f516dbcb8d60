"""Cases designed for one layer from its operation's specification and its declared ports.

A design selects patterns of indices and values, sizes for open dimensions, and a thread count. Designs that are the same for a
layer, because its indices are constant or its shapes static, are tried once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.sizes import Sizes, choose
from ov_gather.crosscheck.cases.values import VALUES, check_fits, require_memory
from ov_gather.ir.element_types import I64
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops.layer_view import LayerView

Integers = NDArray[np.int64]

OWN_OPERANDS = "own operands"
"""Name of the case whose inputs are the operands that the layer has in the model."""
BUDGET = 1 << 25
"""Maximum number of elements over all cases of one layer. A larger layer gets fewer cases, but at least two."""


@dataclass(frozen=True, slots=True)
class Design:
    """A plan for one case, by the names of patterns below, and in the modules `values` and `sizes`.

    `indices` is "" for an operation without indices.
    """

    indices: str
    values: str = "small"
    sizes: str = "some"
    threads: int = 1

    @property
    def name(self) -> str:
        """Name of the case in reports."""
        words = (self.indices, self.values, "" if self.sizes == "some" else f"{self.sizes} long")
        return ", ".join(filter(None, words))


# The most informative designs come first, because --cases may truncate the list.
DESIGNS = (
    Design("random"),
    Design("boundary", "special", threads=2),
    Design("random", "bits", "last", threads=2),
    Design("permutation", "bits", "first", threads=2),
    Design("negative", "bits"),
    Design("above", threads=2),
    Design("below", threads=2),
    Design("reversed", "bits", threads=2),
    Design("equal", "special"),
    Design("duplicates", "bits", threads=2),
    Design("permutation", "special"),
    Design("far above", threads=2),
    Design("far below", threads=2),
    Design("beyond 32 bits", threads=2),
    Design("random", "bits", "one"),
    Design("random", "bits", "none"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """The inputs for one execution of an isolated layer.

    Attributes:
        inputs: one array per Parameter of the layer, in order.
        threads: the number of threads that the runtime uses; 0 leaves the choice to the runtime.
        out_of_bounds: whether the case contains an index that is out of bounds on purpose.
    """

    name: str
    inputs: tuple[NDArray[Any], ...]
    threads: int = 0
    out_of_bounds: bool = False


def designed(view: LayerView, limit: int, seed: int) -> Iterator[Case]:
    """Yield up to `limit` cases for an isolated layer; deterministic for a given seed.

    Cases are sorted by thread count. For each count, out-of-bounds indices come last, since the runtime may crash on them.

    Raises ValueError if no sizes are valid for the inputs, or if the inputs do not fit into memory.
    """
    attributes = _attributes(view)
    typical = choose(view, "some", attributes)
    if typical is None:
        raise ValueError(f"{view.layer}: no sizes are valid for its inputs")
    _require_memory(view, typical)
    most = max(2, BUDGET // max(1, sum(map(element_count, typical))))
    planned = list(enumerate(islice(_planned(view), min(limit, most))))
    for number, design in sorted(planned, key=lambda plan: (plan[1].threads, plan[1].indices in _INVALID)):
        inputs = _inputs(view, design, attributes, np.random.default_rng([seed, number]))
        if inputs is not None:
            yield Case(design.name, inputs, design.threads, design.indices in _INVALID)


def suitable(view: LayerView, limit: int, seed: int) -> Iterator[Case]:
    """Yield the cases of a layer. Known divergences explain what OpenVINO narrows for the family; others are spared it."""
    return designed(view, limit, seed) if view.is_of_family else of_32_bits(view, limit, seed)


def of_32_bits(view: LayerView, limit: int, seed: int) -> Iterator[Case]:
    """Yield the designed cases whose 64-bit numbers fit in 32 bits, to which OpenVINO's CPU plugin narrows them."""
    return (case for case in designed(view, limit, seed) if all(map(_fits, case.inputs)))


def _fits(array: NDArray[Any]) -> bool:
    narrow = {"int64": np.int32, "uint64": np.int32, "float64": np.float32}.get(array.dtype.name)
    if narrow is None:
        return True
    with np.errstate(all="ignore"):
        back = array.astype(narrow).astype(array.dtype)
    return np.array_equal(back, array, equal_nan=array.dtype.kind == "f")


def large(view: LayerView, seed: int) -> Case:
    """Return a case of ordinary numbers and valid indices with a long dimension, if one is open."""
    attributes = _attributes(view)
    for sizes in ("last", "first", "some"):
        if inputs := _inputs(view, Design("random", sizes=sizes), attributes, np.random.default_rng(seed)):
            return Case("large", inputs)
    raise ValueError(f"{view.layer}: no sizes are valid for its inputs")


def _attributes(view: LayerView) -> dict[str, Any]:
    attributes = view.read_attributes()
    for given in view.operation.inputs:
        if given.attribute:
            attributes.setdefault(given.attribute.name, -1)  # an axis; -1 is valid for every rank
    return attributes


def _planned(view: LayerView) -> Iterator[Design]:
    """Yield the designs that are distinct for this layer, then random ones without end."""
    rule = view.operation.index_rule
    varying = [view.constant(i) is None for i in range(len(view.operation.inputs))]
    others = any(varies for i, varies in enumerate(varying) if rule is None or i != rule.port)
    is_open = any(not shape.is_static for shape in view.input_shapes)
    adds_up = view.is_of_family and view.operation.adds_up(_attributes(view))
    endless = (Design("random", f"bits {number}", threads=1 + number % 2) for number in count(1))
    seen = set()
    for design in chain(DESIGNS, endless if others else ()):
        design = replace(
            design,
            indices="" if rule is None else design.indices if varying[rule.port] else "constant",
            values="constant" if not others else "NaN" if adds_up and design.values == "special" else design.values,
        )
        if design not in seen and (is_open or design.sizes == "some"):
            seen.add(design)
            yield design


def _inputs(
    view: LayerView, design: Design, attributes: Mapping[str, Any], rng: np.random.Generator
) -> tuple[NDArray[Any], ...] | None:
    """Build the inputs of a design; None if the layer admits no such indices or sizes."""
    sizes, rule = choose(view, design.sizes, attributes), view.operation.index_rule
    if sizes is None:
        return None
    along = (rule and rule.sizes([PartialShape.of(shape) for shape in sizes], attributes)) or (1,)
    if design.indices == "constant" and 0 in along:  # an empty axis has no valid index
        return None
    _require_memory(view, sizes)
    inputs = []
    for port, (given, shape) in enumerate(zip(view.operation.inputs, sizes, strict=True)):
        element_type = view.input_types[port]
        if view.constant(port) is not None or element_type is None:
            continue
        if rule and port == rule.port:
            dtype = element_type.dtype
            array = _indices(design.indices, rng, shape, Extent.of(along, rule.lowest_specified, dtype), dtype)
        elif given.attribute:
            array = np.full(shape, attributes[given.attribute.name], element_type.dtype)
        else:
            values = design.values.partition(" ")[0]
            is_ordinary = view.operation.adds_up(attributes) and values != "NaN"
            array = VALUES["small" if is_ordinary else values](rng, element_type, shape)
        if array is None:
            return None
        inputs.append(array)
    return tuple(inputs)


def _require_memory(view: LayerView, sizes: Sizes) -> None:
    types = [element_type or I64 for element_type in view.input_types]
    require_memory(str(view.layer), sum(kind.byte_size(element_count(shape)) for kind, shape in zip(types, sizes, strict=True)))


def as_cases(inputs: Sequence[NDArray[Any]]) -> list[Case]:
    """Return the given inputs as two cases, with one thread and with two."""
    return [Case("given", tuple(inputs), threads) for threads in (1, 2)]


def check_given(model: Model, arrays: Sequence[NDArray[Any]]) -> None:
    """Raise TypeError or ValueError if the arrays do not match the Parameters of an isolated layer."""
    parameters = model.parameters
    if len(arrays) != len(parameters):
        names = " and ".join(layer.name for layer in parameters) or "nothing"
        raise ValueError(f"{len(arrays)} inputs are given; the layer needs {names}")
    for layer, array in zip(parameters, arrays, strict=True):
        check_fits(layer, array)
    require_memory(model.name or "the given inputs", sum(array.nbytes for array in arrays))


def operands(view: LayerView, given: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return all inputs of an isolated layer in port order: its constants, and `given` for its Parameters."""
    parameters = iter(given)
    constants = map(view.constant, range(len(view.layer.inputs)))
    return [next(parameters) if value is None else value for value in constants]


@dataclass(frozen=True, slots=True)
class Extent:
    """The index range of an axis. For tuples of coordinates, each field has one number per coordinate; else it is a scalar.

    Attributes:
        size: the size of the axis, limited to the number of non-negative values that the index type has.
        lowest: -size, or the minimum of the index type if that is greater.
        specified: the lowest index that the operation's specification allows, clamped likewise.
    """

    size: Integers
    lowest: Integers
    specified: Integers

    @classmethod
    def of(cls, size: tuple[int, ...], specified: Callable[[Any], Any], dtype: np.dtype[Any]) -> Extent:
        """Build the span of an axis, clamped to the range of the index type."""
        limits, sizes = np.iinfo(dtype), np.array(size if len(size) > 1 else size[0], np.int64)
        end = np.minimum(sizes, min(int(limits.max) + 1, 2**62))
        return cls(end, np.maximum(-sizes, limits.min), np.maximum(specified(sizes), limits.min))


def _indices(
    pattern: str, rng: np.random.Generator, shape: tuple[int, ...], span: Extent, dtype: np.dtype[Any]
) -> NDArray[Any] | None:
    """Return indices that follow a pattern; None if the shape or the index type admits none."""
    empty = 0 in shape
    if (empty and pattern != "random") or (not empty and not span.size.all() and pattern not in _INVALID):
        return None
    limits = np.iinfo(dtype)
    made = _VALID[pattern](rng, shape, span) if pattern in _VALID else _replaced(rng, shape, span, _INVALID[pattern])
    if made is None:
        return None
    indices = np.asarray(made)  # NumPy returns a scalar for rank 0
    if not empty and not (limits.min <= indices.min() and indices.max() <= limits.max):
        return None
    return indices.astype(dtype)


def _random(rng: np.random.Generator, shape: tuple[int, ...], span: Extent) -> Integers:
    return rng.integers(span.specified, np.maximum(span.size, span.specified + 1), shape)


def _boundary(rng: np.random.Generator, shape: tuple[int, ...], span: Extent) -> Integers:
    ends = [span.size * 0, span.size - 1, np.maximum(span.lowest, -1), span.lowest]
    return np.choose(rng.integers(0, 4, shape), [np.broadcast_to(end, shape) for end in ends])


def _counting(shape: tuple[int, ...]) -> Integers:
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def _replaced(rng: np.random.Generator, shape: tuple[int, ...], span: Extent, by: Callable[[Integers], Integers]) -> Integers:
    """Return valid indices in which one of the last tenth is replaced by an invalid one."""
    indices = _random(rng, shape, span) if span.size.all() else np.zeros(shape, np.int64)
    flat, wrong = indices.reshape(-1), np.broadcast_to(by(span.size), shape).reshape(-1)
    position = flat.size - 1 - int(rng.integers(0, -(-flat.size // 10)))
    flat[position] = wrong[position]
    return indices


_VALID: Mapping[str, Callable[[np.random.Generator, tuple[int, ...], Extent], Integers | None]] = {
    "random": _random,
    "boundary": _boundary,
    "negative": lambda rng, shape, span: rng.integers(span.lowest, 0, shape) if (span.lowest < 0).all() else None,
    "equal": lambda rng, shape, span: np.broadcast_to(rng.integers(0, span.size), shape).copy(),
    "duplicates": lambda rng, shape, span: rng.integers(0, np.minimum(span.size, 2), shape),
    "reversed": lambda rng, shape, span: span.size - 1 - _counting(shape) % span.size,
    "permutation": lambda rng, shape, span: rng.permutation(int(span.size.min()))[_counting(shape) % int(span.size.min())],
}
_INVALID: Mapping[str, Callable[[Integers], Integers]] = {
    "above": lambda size: size,
    "below": lambda size: -size - 1,
    "far above": lambda size: size * 0 + 2**31 - 1,
    "far below": lambda size: size * 0 - 2**31,
    "beyond 32 bits": lambda size: size * 0 + 2**32 + 1,
}
