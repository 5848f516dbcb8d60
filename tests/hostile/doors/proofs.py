"""`prove` and `prove_onnx` on arithmetic of sizes at the limits of types; the oracle is NumPy with the runtime's integers.

Sizes go up to those that docs/background/proofs.md assumes, without tensors of that size. With small sizes, OpenVINO and
onnxruntime confirm NumPy's results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import openvino as ov

from helpers.legalized import run
from helpers.random_graphs import Given
from helpers.random_onnx import TYPES
from helpers.range_trials import DIM, ends, number
from helpers.size_arithmetic import (
    LARGEST_COUNT,
    LARGEST_DIM,
    LIMITS,
    NUMBERS,
    SAMPLED,
    Grower,
    OutsideError,
    Tree,
    Trial,
    dims_of,
    evaluate,
    is_fused,
    wrapped,
)
from helpers.size_models import GATHERS, Model, OnnxModel, OpenvinoModel
from ov_gather import prove
from ov_gather.converters import prove_onnx
from ov_gather.runtimes.session import Session

TRIALS = 40
SECONDS = 60
SAMPLES = 60
MEETING = 25

Requires = Mapping[str, tuple[Any, Any]]


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Prove a random model through one of the doors, and search for sizes and elements that falsify the proof."""
    sources = _sources(rng)
    grower = Grower(rng, sources)
    data, size = _data(rng, sources)
    index = grower.index(size)
    kind, is_onnx = str(rng.choice(["i32", "i64"])), bool(rng.random() < 0.4)
    gather = "Gather-8" if is_onnx else str(rng.choice(list(GATHERS)))
    made: Model = OnnxModel(sources, kind, index, data) if is_onnx else OpenvinoModel(sources, kind, index, data, gather)
    proof = _proof(made, folder, in_memory=bool(rng.random() < 0.5))
    shown = f"{gather if not is_onnx else 'ONNX'} {kind} {sources} of {data}[{size}] at {index}: {proof}"
    is_met = False
    for trial in _trials(rng, made, proof.requires):
        dims = dims_of(trial.shapes)
        if max(dims.values()) <= LARGEST_DIM and max(map(prod, trial.shapes.values())) <= LARGEST_COUNT:
            keeps = _keeps(proof, dims | trial.numbers)
            is_met |= keeps
            with suppress(OutsideError):
                _judge(made, proof, size, trial, rng, keeps, shown)
    has_texts = any(isinstance(bound, str) for bounds in proof.requires.values() for bound in bounds)
    assert is_met or has_texts, f"no input was found that meets the condition of {shown}"
    _confirm(made, rng, shown)


def _sources(rng: np.random.Generator) -> list[Given]:
    """Return inputs of one to three dimensions, a scalar, and a table to gather from."""
    found = [
        Given(name, "u8", tuple(_source_dim(rng, f"{name}_{axis}") for axis in range(rank)))
        for name, rank in zip("xyz", rng.integers(1, 4, int(rng.integers(1, 4))), strict=False)
    ]
    scalar = Given("n", str(rng.choice(["i32", "i64", "u8", "i8"])), ())
    return [*found, scalar, Given("t", "f32", (int(rng.choice([1, 3, 6, 100, 256, 65536])), 2))]


def _source_dim(rng: np.random.Generator, name: str) -> int | str:
    return name if rng.random() < 0.85 else int(rng.choice([1, 2, 7, 256]))


def _data(rng: np.random.Generator, sources: list[Given]) -> tuple[Tree, Tree]:
    """Choose the gathered data, and the size of its first axis."""
    source = sources[int(rng.integers(len(sources) - 2))]
    if rng.random() < 0.5:
        return Tree("input", (), "t"), Tree("constant", (), sources[-1].dims[0])
    if rng.random() < 0.5:
        return Tree("flat", (), source.name), Tree("count", (), source.name)
    return Tree("input", (), source.name), Tree("dim", (), (source.name, 0))


def _proof(made: Model, folder: Path, *, in_memory: bool) -> Any:
    if isinstance(made, OnnxModel):
        proofs = prove_onnx(made.model)
    elif in_memory:
        proofs = prove(made.model)
    else:
        ov.serialize(made.model, folder / "model.xml")
        proofs = prove(folder / "model.xml")
    (proof,) = (proof for proof in proofs if proof.layer == "site")
    requires = {_plain(name): tuple(map(_plain, bounds)) for name, bounds in proof.requires.items()}
    return SimpleNamespace(**vars(proof) | {"requires": requires, "index_range": tuple(map(_plain, proof.index_range))})


def _plain(bound: Any) -> Any:
    """Name dimensions by input and axis; ONNX models of these tests name them x_0."""
    return re.sub(r"dim\((\w)_(\d)\)", r"dim(\1, \2)", bound) if isinstance(bound, str) else bound


def _trials(rng: np.random.Generator, made: Model, requires: Requires) -> Iterator[Trial]:
    """Yield sizes and numbers at their limits, and at the limits of the proof's conditions."""
    for _ in range(SAMPLES):
        yield _trial(rng, made, {})
    for position in range(MEETING if requires else 0):
        yield _trial(rng, made, requires, lowest=not position)


def _trial(rng: np.random.Generator, made: Model, requires: Requires, *, lowest: bool = False) -> Trial:
    """Draw sizes and numbers; with `lowest`, required dimensions have their least size, as larger ones may be too many."""
    sources, sizes = made.sources, dict[str, int]()
    for source in sources:
        names = [f"dim({source.name}, {axis})" for axis in range(len(source.dims))]
        bounds = [requires.get(name, (None, None)) for name in names]
        dims = [low if lowest and isinstance(low, int) else _dim(rng, (low, high)) for low, high in bounds]
        for axis in rng.permutation(len(dims)):  # shrink dims until the number of elements is allowed
            rest = prod(dim for other, dim in enumerate(dims) if other != axis)
            declared = source.dims[axis]
            most = LARGEST_COUNT // max(rest, 1) if rng.random() < 0.9 else LARGEST_DIM
            dims[axis] = declared if isinstance(declared, int) else min(dims[axis], most)
        sizes |= zip(names, dims, strict=True)
    _keep_products(rng, {f"dim({name}, {axis})" for name, axis in _static(sources)}, sizes, requires)
    for name in filter(DIM.fullmatch, requires):
        low, high = (number(bound, sizes, end) for bound, end in zip(requires[name], (0, LARGEST_DIM), strict=True))
        sizes[name] = max(low, min(high, sizes[name]))
    scalars = [source for source in sources if not source.dims]
    numbers = {one.name: _number(rng, one.kind, requires.get(one.name, (None, None)), sizes) for one in scalars}
    shapes = {one.name: tuple(sizes[f"dim({one.name}, {axis})"] for axis in range(len(one.dims))) for one in sources}
    counts = {name: prod(shape) for name, shape in shapes.items()}
    non_zero = {name: int(rng.choice([0, 1, count // 2, count])) if count else 0 for name, count in counts.items()}
    non_zero |= {name: int(number != 0) for name, number in numbers.items()}
    return Trial(shapes, numbers, non_zero, made.counts_back, bool(rng.random() < 0.5), _static(sources))


def _static(sources: list[Given]) -> frozenset[tuple[str, int]]:
    return frozenset((source.name, axis) for source in sources for axis, dim in enumerate(source.dims) if isinstance(dim, int))


def _dim(rng: np.random.Generator, bounds: tuple[Any, Any]) -> int:
    low, high = (bound if isinstance(bound, int) else None for bound in bounds)
    near = [bound + by for bound in (low, high) if bound is not None for by in (-1, 0, 1)]
    limits = [*LIMITS, int(2 ** rng.uniform(0, 23)), *near * 4]
    return min(max(int(rng.choice(limits)), low or 0), LARGEST_DIM if high is None else high)


def _keep_products(rng: np.random.Generator, static: set[str], sizes: dict[str, int], requires: Requires) -> None:
    """Shrink one factor of each bounded product so that the product is near its bound."""
    for name, (_, high) in requires.items():
        factors = DIM.findall(name)
        if len(factors) > 1 and isinstance(high, int):
            chosen = str(rng.choice([factor for factor in factors if factor not in static] or factors))
            rest = prod(sizes[factor] for factor in factors if factor != chosen)
            sizes[chosen] = min(sizes[chosen] if rng.random() < 0.3 else LARGEST_DIM, high // max(rest, 1))


def _number(rng: np.random.Generator, kind: str, bounds: tuple[Any, Any], dims: Mapping[str, int]) -> int:
    held = np.iinfo(TYPES[kind])
    low, high = (number(bound, dims, end) for bound, end in zip(bounds, (int(held.min), int(held.max)), strict=True))
    choices = [*NUMBERS, -(2**31), low, high, (low + high) // 2, int(rng.integers(-9, 10))]
    return int(np.clip(max(min(int(choices[int(rng.integers(len(choices)))]), high), low), held.min, held.max))


def _is_known(words: str, dims: Mapping[str, int]) -> bool:
    return dims.keys() >= set(DIM.findall(words)) and not re.search("[a-z]", DIM.sub("", words))


def _keeps(proof: Any, values: Mapping[str, int]) -> bool:
    """Return True if sizes and numbers satisfy the conditions of a proof."""
    for name, bounds in proof.requires.items():
        low, high = ends(*bounds, values)
        if not low <= (values[name] if name in values else number(name, values)) <= high:
            return False
    return True


def _judge(made: Model, proof: Any, size: Tree, trial: Trial, rng: np.random.Generator, keeps: bool, shown: str) -> None:
    """Compare a proof with the values computed in a trial, which may satisfy its conditions. Raises OutsideError."""
    indices = evaluate(made.index, trial, made.computed, rng)
    length = int(evaluate(size, trial, "i64", rng))
    lowest = 0 if made.gather != "Gather-8" else -length
    outside = [int(one) for one in indices.ravel() if not lowest <= one < length]
    said = f"{trial.shapes} {trial.numbers} non-zero {trial.non_zero}: {indices.ravel()[:9]} of {length}: {shown}"
    if proof.status == "proved" or (proof.status == "conditional" and keeps):
        assert not outside, said
    if proof.status == "refuted" and not indices.ndim:
        assert outside, said
    if indices.size:  # the reported range counts if it names only dimensions of inputs
        dims = dims_of(trial.shapes)
        known = (None if isinstance(end, str) and not _is_known(end, dims) else end for end in proof.index_range)
        least, greatest = ends(*known, dims)
        assert least <= min(indices.ravel()) and max(indices.ravel()) <= greatest, f"not in {least}..{greatest}: {said}"


def _confirm(made: Model, rng: np.random.Generator, shown: str) -> None:
    """Check with small sizes that NumPy computes what the runtime does."""
    sources, index, kind = made.sources, made.index, made.computed
    shapes = {one.name: tuple(dim if isinstance(dim, int) else int(rng.integers(1, 6)) for dim in one.dims) for one in sources}
    feeds = {source.name: rng.integers(0, 3, shapes[source.name]).astype(TYPES[source.kind]) for source in sources}
    numbers = {source.name: int(feeds[source.name]) for source in sources if not source.dims}
    non_zero = {name: int(np.count_nonzero(array)) for name, array in feeds.items()}
    trial = Trial(shapes, numbers, non_zero, made.counts_back, False, _static(sources))
    try:
        expected = evaluate(index, trial, kind, rng)
    except OutsideError:
        return
    if any(tree.name == "places" or is_fused(tree) for tree in index) or not trial.exact or _is_folded(index):
        return  # the runtime may differ: by positions, rounding, inexact values or folding
    found = _executed(made, feeds)
    if found is None or found.size > SAMPLED:
        return
    assert sorted(map(int, found.ravel())) == sorted(map(int, wrapped(expected, kind).ravel())), (
        f"{shapes} {numbers}: the runtime computes {found.ravel()[:9]}, NumPy {expected.ravel()[:9]}: {shown}"
    )


def _is_folded(index: Tree) -> bool:
    """Return True if an operation has only constant operands; OpenVINO folds some of these differently."""
    return any(tree.operands and all(operand.name == "constant" for operand in tree.operands) for tree in index)


def _executed(made: Model, feeds: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the indices; None if onnxruntime refuses the model, as it takes static sizes that are cast to int32 for int64."""
    if isinstance(made, OnnxModel):
        try:
            return np.asarray(run(made.of_indices(), dict(feeds))[0])
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail as error:
            assert "must be of the same type" in str(error), error
            return None
    return Session(ov.Core(), made.of_indices(), properties={"INFERENCE_NUM_THREADS": 1})(list(feeds.values()))[0]
