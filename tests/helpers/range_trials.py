"""Inputs for random models: small, like indices, extreme, empty, large; within conditions, and beyond one of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers.random_graphs import NASTY, NASTY_FRACTIONS, Given, Inputs
from helpers.random_onnx import TYPES

Bounds = Mapping[str, tuple[Any, Any]]
"""By the name of an input or of a dimension, as in "dim(x0, 1)", the least and the greatest value, or a text of sizes."""

DIM = re.compile(r"dim\(\w+(?:, \d+)?\)")
"""A dimension: of an input, or by the name that ONNX gives it."""
TRIES = 30
LARGEST_EXAMPLE = 1 << 20
"""Elements of an input of an example that is executed."""
VARIANTS = 12
"""So many inputs beyond a bound are tried before none counts as a witness."""


@dataclass(frozen=True)
class Trial:
    """Arrays for the Parameters of a model, in their order."""

    label: str
    arrays: list[NDArray[Any]]
    names: list[str]
    sizes: dict[str, int]
    """The size of each dimension of each input by its name in conditions, as in "dim(x0, 1)"."""


def trials(sample: Inputs, rng: np.random.Generator) -> Iterator[Trial]:
    """Inputs of each kind. What is empty comes after large numbers, which may still be in memory then."""
    yield _trial("small", sample, rng, _some_sizes(sample, rng, 1), _small)
    yield _trial("like indices", sample, rng, _some_sizes(sample, rng, 2), _like_indices)
    yield _trial("extreme", sample, rng, _some_sizes(sample, rng, 1), _extreme)
    yield _trial("large", sample, rng, {name: high for name, (_, high) in sample.sizes.items()}, _mixed)
    if sample.sizes:
        yield _trial("one is least", sample, rng, _one_is_least(sample, rng), _mixed)
        yield _trial("least", sample, rng, {name: low for name, (low, _) in sample.sizes.items()}, _like_indices)


def _some_sizes(sample: Inputs, rng: np.random.Generator, least: int) -> dict[str, int]:
    return {name: int(rng.integers(min(max(low, least), high), min(6, high) + 1)) for name, (low, high) in sample.sizes.items()}


def _one_is_least(sample: Inputs, rng: np.random.Generator) -> dict[str, int]:
    name = str(rng.choice(list(sample.sizes)))
    return {**_some_sizes(sample, rng, 1), name: sample.sizes[name][0]}


def _trial(label: str, sample: Inputs, rng: np.random.Generator, sizes: Mapping[str, int], numbers: Any) -> Trial:
    shapes = [[dim if isinstance(dim, int) else sizes[dim] for dim in given.dims] for given in sample.inputs]
    arrays, known = [], {}
    for given, shape in zip(sample.inputs, shapes, strict=True):
        arrays.append(numbers(rng, given, shape))
        known |= {name: size for axis, size in enumerate(shape) for name in _names_of_dim(given, axis)}
    return Trial(label, arrays, [given.name for given in sample.inputs], known)


def _names_of_dim(given: Given, axis: int) -> list[str]:
    return [f"dim({given.name}, {axis})", f"dim({given.dims[axis]})"]


def _small(rng: np.random.Generator, given: Given, shape: list[int]) -> NDArray[Any]:
    if given.kind == "f32":
        return rng.normal(0, 3, shape).astype(np.float32)
    low, high = {"boolean": (0, 2), "u8": (0, 8)}.get(given.kind, (-5, 8))
    return rng.integers(low, high, shape).astype(TYPES[given.kind])


def _like_indices(rng: np.random.Generator, given: Given, shape: list[int]) -> NDArray[Any]:
    if given.kind == "f32":
        return rng.random(shape, np.float32)
    return rng.integers(0, 2 if given.kind == "boolean" else 3, shape).astype(TYPES[given.kind])


def _extreme(rng: np.random.Generator, given: Given, shape: list[int]) -> NDArray[Any]:
    """Numbers at which types and arithmetic end; a boolean is any byte."""
    if given.kind == "f32":
        return rng.choice(NASTY_FRACTIONS, shape).astype(np.float32)
    if given.kind == "boolean":
        return rng.choice([0, 1, 7, 255], shape).astype(np.uint8).view(np.bool_)
    numbers = (*NASTY, 2**32 + 1, 2**31, -(2**40)) if given.kind == "i64" else NASTY  # of 64 bits the plugin keeps 32
    return np.asarray(rng.choice(numbers, shape)).astype(TYPES[given.kind])


def _mixed(rng: np.random.Generator, given: Given, shape: list[int]) -> NDArray[Any]:
    rare = _small(rng, given, shape), _extreme(rng, given, shape)
    chosen = np.where(rng.random(shape) < 0.8, *(array.view(np.uint8) if given.kind == "boolean" else array for array in rare))
    return chosen.astype(np.uint8).view(np.bool_) if given.kind == "boolean" else chosen.astype(TYPES[given.kind])


def is_known(words: str, sample: Inputs) -> bool:
    """Whether a name or a text names nothing but inputs and their dimensions."""
    known = {name for given in sample.inputs for axis in range(len(given.dims)) for name in _names_of_dim(given, axis)}
    if words.partition("[")[0] in {given.name for given in sample.inputs}:
        return True
    named = DIM.findall(words)
    return known.issuperset(named) and not re.search(r"[a-z#]", re.sub(r"\b(min|max)\(", "", DIM.sub("", words)))


def number(bound: Any, sizes: Mapping[str, int], missing: float = 0) -> Any:
    """Return the value of a bound: a number, a text of sizes such as "dim(x0, 1) - 1", or `missing` if there is none."""
    if bound in (None, inf, -inf):
        return missing
    if not isinstance(bound, str):
        return bound
    numbers = DIM.sub(lambda match: str(sizes[match[0]]), bound).replace("^", "**")
    return eval(numbers, {"__builtins__": {}}, {"min": min, "max": max, "inf": inf})


def ends(low: Any, high: Any, sizes: Mapping[str, int]) -> tuple[float, float]:
    """Both bounds as numbers, infinite where there is none."""
    return number(low, sizes, -inf), number(high, sizes, inf)


def part(arrays: Mapping[str, NDArray[Any]], words: str) -> NDArray[Any]:
    """A view of what a condition is about: an array, or a part of it such as "x[:, 1:3]"."""
    name, _, slices = words.removesuffix("]").partition("[")
    found = []
    for one in slices.split(", ") if slices else ():
        ends = [int(word) if word else None for word in one.split(":")]
        found.append(slice(*ends) if len(ends) > 1 else slice(ends[0], ends[0] + 1))  # type: ignore[operator]
    return arrays[name][(*found, ...)]


def keeps(trial: Trial, bounds: Bounds) -> bool:
    """Whether inputs keep to conditions."""
    arrays = dict(zip(trial.names, trial.arrays, strict=True))
    for name, (low, high) in bounds.items():
        least, greatest = ends(low, high, trial.sizes)
        if name.startswith("dim("):  # a dimension, or a product of some
            inside = least <= number(name, trial.sizes) <= greatest
        else:
            array = part(arrays, name)
            array = array.view(np.uint8) if array.dtype == np.bool_ else array
            inside = bool(((array >= least) & (array <= greatest)).all())
        if not inside:
            return False
    return True


def trial_within(label: str, sample: Inputs, rng: np.random.Generator, bounds: Bounds) -> Trial | None:
    """Inputs that keep to conditions, those without one small or extreme; None where none were found."""
    for _ in range(TRIES):
        sizes = {name: int(rng.integers(low, high + 1)) for name, (low, high) in sample.sizes.items()}
        trial = _trial(label, sample, rng, sizes, _small if rng.random() < 0.5 else _mixed)
        if keeps(trial, {name: pair for name, pair in bounds.items() if name.startswith("dim(")}):
            arrays = dict(zip(trial.names, trial.arrays, strict=True))
            for name in sorted((name for name in bounds if not name.startswith("dim(")), key=len):  # a part after the whole
                _fill(rng, part(arrays, name), *ends(*bounds[name], trial.sizes))
            if keeps(trial, bounds):
                return trial
    return None


def trial_of(sample: Inputs, rng: np.random.Generator, example: Mapping[str, float]) -> Trial | None:
    """The inputs of an example, and small ones where it says nothing; None if they are large."""
    sizes, arrays, known = _some_sizes(sample, rng, 1), [], {}
    told = [(given, axis, dim) for given in sample.inputs for axis, dim in enumerate(given.dims) if not isinstance(dim, int)]
    sizes |= {dim: int(example[name]) for given, axis, dim in told for name in _names_of_dim(given, axis) if name in example}
    for given in sample.inputs:
        shape = [dim if isinstance(dim, int) else sizes[dim] for dim in given.dims]
        for axis in range(len(shape)):
            shape[axis] = int(next((example[name] for name in _names_of_dim(given, axis) if name in example), shape[axis]))
        if prod(shape) > LARGEST_EXAMPLE:
            return None
        arrays.append(_small(rng, given, shape))
        for name in sorted((name for name in example if name.partition("[")[0] == given.name), key=len):
            part({given.name: arrays[-1]}, name)[...] = example[name]
        known |= {name: size for axis, size in enumerate(shape) for name in _names_of_dim(given, axis)}
    return Trial("example", arrays, [given.name for given in sample.inputs], known)


def _fill(rng: np.random.Generator, array: NDArray[Any], low: float, high: float) -> None:
    """Make every element one from low to high, the ends more often than chance would."""
    if array.dtype == np.bool_:
        array[...] = rng.integers(max(low, 0), min(high, 1) + 1, array.shape) if low <= 1 and high >= 0 else False
    elif low > high:  # because a size is 0
        return
    elif array.dtype.kind == "f":
        least, greatest = np.clip([low, high], -1e6, 1e6)
        array[...] = np.clip(rng.choice([least, greatest, *rng.uniform(least, greatest, 4)], array.shape), low, high)
    else:
        limits = np.iinfo(array.dtype if array.dtype.itemsize < 4 else np.int32)
        least, greatest = int(max(low, limits.min)), int(min(high, limits.max))
        if least <= greatest:
            array[...] = rng.choice([least, greatest, *rng.integers(least, greatest, 4, endpoint=True)], array.shape)


def _holds(dtype: np.dtype[Any], value: float) -> bool:
    limits = np.finfo(np.float32) if dtype.kind == "f" else np.iinfo(dtype if dtype.itemsize < 4 else np.int32)
    return abs(value) == inf or bool(limits.min <= value <= limits.max)


def trials_beyond(sample: Inputs, rng: np.random.Generator, bounds: Bounds, name: str, upper: bool) -> Iterator[Trial]:
    """Inputs that keep to all conditions but one, whose lower or upper bound they violate by one."""
    others = {other: pair for other, pair in bounds.items() if other != name}
    for variant in range(VARIANTS):
        if name.startswith("dim("):
            low, high = bounds[name]
            value = f"{high} + 1" if upper else f"{low} - 1"
            trial = trial_within(f"{name} = {value}", sample, rng, {**others, name: (value, value)})
            if trial is not None:
                yield trial
            continue
        trial = trial_within(f"{name} beyond", sample, rng, bounds)
        if trial is None:
            return
        array = part(dict(zip(trial.names, trial.arrays, strict=True)), name)
        value = _beyond(array.dtype, number(bounds[name][upper], trial.sizes), 1 if upper else -1)
        if array.dtype == np.bool_ or not _holds(array.dtype, value):
            return
        if variant % 2 and array.size:
            array[tuple(rng.integers(array.shape))] = value
        else:
            array[...] = value
        yield trial


def _beyond(dtype: np.dtype[Any], bound: float, step: int) -> float:
    """A number beyond a bound by one; beyond the greatest of all fractions it is infinite."""
    return step * inf if dtype.kind == "f" and abs(bound) >= np.finfo(np.float32).max else bound + step
