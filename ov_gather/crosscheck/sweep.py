"""Cross-check of generated layers: operations x element types x ranks x axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path

import numpy as np

from ov_gather.crosscheck import declared_layers
from ov_gather.crosscheck.cases.designed import DESIGNS, Case, suitable
from ov_gather.crosscheck.cases.values import small
from ov_gather.crosscheck.defaults import DEFAULT_SEED, DEFAULT_SWEEP
from ov_gather.crosscheck.layers import Job, LayerChecks
from ov_gather.crosscheck.progress import Progress
from ov_gather.crosscheck.reduce import Reducer
from ov_gather.crosscheck.results import CrossCheckResult, Environment, LayerResult
from ov_gather.divergences.register import lacking
from ov_gather.extension.users import UserExtension
from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import BOOLEAN, ELEMENT_TYPES, I64, INTEGERS, ElementType
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import ANY, PartialShape
from ov_gather.ops import OPERATIONS
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.spec import Operation
from ov_gather.ops.table import OPENVINO, Along, Op
from ov_gather.ops.users import operations_of_files
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed

CASES_A_LAYER = 8
UNSAFE = 8
"""Every n-th layer also gets out-of-bounds indices."""
RANKS = range(1, 7)
_LARGEST = 5  # dimension

Sizes = tuple[int, ...]
Text = dict[str, str]


def sweep(
    runtimes: Sequence[str],
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_SWEEP,
    device: str = CPU,
    failures: Path | None = None,
    progress: Progress | None = None,
    start: int = 0,
    stop: int | None = None,
    extensions: tuple[UserExtension, ...] = (),
) -> CrossCheckResult:
    """Cross-check generated layers, until there are `cases` in all: of the family, or of operations that files declare, if any.

    Args:
        runtimes: as for `cross_check`.
        seed: for the layers and their cases.
        cases: the total number of cases.
        device, failures: as for `cross_check`.
        progress: receives each result as soon as its layer is done.
        start, stop: number of the first layer, and of the one behind the last; None for no end.
        extensions: libraries with the declared operations, as `loaded` returns them.

    Raises FileNotFoundError, ImportError if a runtime is not installed.
    """
    progress = progress or Progress()
    progress.begin("made-up layers", cases, seed, "cases")
    reducer = Reducer(failures, device, extensions) if failures else None
    declared = operations_of_files()
    made = declared_layers.layers(declared, seed) if declared else layers(seed)
    with borrowed(runtimes, device, extensions) as others, LayerChecks(others, reducer) as checks:
        progress.watch(checks.queues)
        for number, model in islice(enumerate(made), start, stop):
            for layer in _checked(number, model, others, checks, seed, cases - progress.done):
                progress.add(number, layer, max(len(layer.cases), 1))  # one that cannot be executed counts, too
            if progress.done >= cases:
                break
        return CrossCheckResult(progress.layers, seed, Environment.of(others))


def _checked(
    number: int,
    model: Model,
    others: Sequence[IsolatedRuntime[Model]],
    checks: LayerChecks,
    seed: int,
    limit: int,
) -> Iterator[LayerResult]:
    """Yield the result of one layer in at most `limit` cases; nothing if every runtime beside "kernel" lacks the operation."""
    (view,) = family_layers(model)
    compared = [other for other in others if other.name != "kernel"]
    if compared and all(lacking(other.name, other.version, view, other.devices) for other in compared):
        return
    make = partial(_some, number=number, limit=min(CASES_A_LAYER, limit), seed=seed + number)
    for _, layer in checks.run([Job(view, make, is_alone=True)]):
        yield layer


def _some(view: LayerView, number: int, limit: int, seed: int) -> Iterator[Case]:
    """Select every second designed case, all with the same number of threads, as a runtime reloads the model for another one.

    Only one layer in UNSAFE gets out-of-bounds indices, because a runtime needs a new process after most of them.
    """
    cases = [case for case in suitable(view, len(DESIGNS), seed) if number % UNSAFE == 0 or not case.out_of_bounds]
    return islice((replace(case, threads=1 + number % 2) for case in cases[number // UNSAFE % 2 :: 2]), limit)


def layers(seed: int) -> Iterator[Model]:
    """Yield layers without end, cycling through the operations; deterministic for a given seed.

    Each operation meets every combination of element type, rank and axis, in random order.
    """
    rng = np.random.default_rng(seed)
    cells = {}
    for operation in OPERATIONS:
        types = operation.inputs[0].element_types or ELEMENT_TYPES
        found = [(kind, rank, axis) for kind, rank in product(types, RANKS) if kind.numpy_name for axis in range(-rank, rank)]
        cells[operation.name] = cycle([found[i] for i in rng.permutation(len(found))])
    for operation in cycle(OPERATIONS):
        yield _layer(operation, rng, *next(cells[operation.name]))


def _layer(operation: Operation, rng: np.random.Generator, element_type: ElementType, rank: int, axis: int) -> Model:
    """Build one layer. One in three has open dimensions; one in three has constant data or constant indices."""
    data = _sizes(rng, rank)
    indices, text = _INDICES[operation.type](rng, operation, data, axis)
    reductions = [attribute.kind.split("|") for attribute in operation.attributes if attribute.name == "reduction"]
    if reductions and element_type.bits >= 8 and element_type.name[:2] != "f8":
        text["reduction"] = str(rng.choice([word for word in reductions[0] if element_type is not BOOLEAN or word != "mean"]))
    shapes = {"data": data, "indices": indices, "updates": _updates(OPENVINO[operation.type], data, indices, axis)}
    is_open, constant = rng.integers(3) == 0, rng.choice(["data", "indices", "", "", "", ""])
    builder = ModelBuilder(f"{operation.name} {element_type} {list(data)} {list(indices)} {axis}")
    inputs: list[PortRef] = []
    for given in operation.inputs:
        if given.attribute:
            inputs.append(builder.const(given.name, I64, np.array(axis)))
            continue
        sizes = shapes[given.name]
        allowed = given.element_types or INTEGERS
        kind = allowed[rng.integers(len(allowed))] if given.name == "indices" else element_type
        if given.name == constant:
            smallest = min(data) if data else 1
            array = rng.integers(0, smallest, sizes).astype(kind.dtype) if given.name == "indices" else small(rng, kind, sizes)
            inputs.append(builder.const(given.name, kind, array))
        else:
            inputs.append(builder.parameter(given.name, kind, _declared(operation, given.name, sizes, is_open)))
    # The declared output is a placeholder: isolating the layer infers it again.
    placeholder, opset = (inputs[0].element_type, PartialShape.of(())), str(rng.choice(operation.opsets))
    (output,) = builder.layer(operation.type, builder.name, opset, text, inputs, [placeholder], tensor="output")
    builder.result("output", output)
    return builder.build()


def _declared(operation: Operation, name: str, sizes: Sizes, is_open: bool) -> PartialShape:
    shape = PartialShape.of(sizes)
    if not is_open or shape.dims is None:
        return shape
    kept = (
        1 if name == "indices" and OPENVINO[operation.type].along is Along.COORDINATES else 0
    )  # the tuple length stays static
    count = len(shape.dims) - kept
    return PartialShape((ANY,) * count + shape.dims[count:])


def _sizes(rng: np.random.Generator, rank: int) -> Sizes:
    return tuple(map(int, rng.integers(1, _LARGEST + 1, rank)))


def _of_elements(rng: np.random.Generator, operation: Operation, data: Sizes, axis: int) -> tuple[Sizes, Text]:
    """Choose indices for GatherElements; our version also gets smaller, broadcast and transposed ones, and no lanes."""
    sizes, text = list(data), {"axis": str(axis)}
    if "broadcast" in {attribute.name for attribute in operation.attributes}:
        broadcast = bool(rng.integers(2))
        text["broadcast"] = str(broadcast).lower()
        text["transpose"] = str(len(data) > 1 and bool(rng.integers(2))).lower()
        text["same_shape"] = str(not rng.integers(4)).lower()
        if text["same_shape"] == "false":
            sizes = [int(rng.choice([1, size] if broadcast else range(1, size + 1))) for size in data]
        has_lanes = text["transpose"] == "false" and axis % len(data) < len(data) - 1 and bool(rng.integers(2))
        text["lanes"] = str(has_lanes).lower()
    sizes[axis] = int(rng.integers(1, _LARGEST + 3))
    return tuple(sizes[:-1] if text.get("lanes") == "true" else sizes), text


def _of_slices(rng: np.random.Generator, operation: Operation, data: Sizes, axis: int) -> tuple[Sizes, Text]:
    """Choose indices for Gather, with up to two batch dimensions if the version has the attribute."""
    has_batches = any(attribute.name == "batch_dims" for attribute in operation.attributes)
    batch = int(rng.integers(0, min(axis % len(data), 2) + 1)) if has_batches else 0
    text = {"batch_dims": str(batch)} if has_batches else {}
    return data[:batch] + _sizes(rng, int(rng.integers(0, 3))), text


def _of_tuples(rng: np.random.Generator, operation: Operation, data: Sizes, axis: int) -> tuple[Sizes, Text]:
    """Choose indices for GatherND with `axis` (made non-negative) batch dimensions."""
    batch = axis % len(data)
    depth = int(rng.integers(1, len(data) - batch + 1))
    return (*data[:batch], *_sizes(rng, int(rng.integers(0, 3))), depth), {"batch_dims": str(batch)}


def _of_places_by_tuples(rng: np.random.Generator, operation: Operation, data: Sizes, axis: int) -> tuple[Sizes, Text]:
    """Choose indices for ScatterND and ScatterNDUpdate, with tuples of `axis` + 1 coordinates (`axis` made non-negative)."""
    return (*_sizes(rng, int(rng.integers(0, 3))), axis % len(data) + 1), {}


def _of_updates(rng: np.random.Generator, operation: Operation, data: Sizes, axis: int) -> tuple[Sizes, Text]:
    """Choose indices for ScatterElements: off the axis at most as large as data."""
    sizes = [int(rng.integers(1, size + 1)) for size in data]
    sizes[axis] = int(rng.integers(1, _LARGEST + 3))
    is_attribute = any(attribute.name == "axis" for attribute in operation.attributes)
    return tuple(sizes), {"axis": str(axis)} if is_attribute else {}


def _updates(op: Op, data: Sizes, indices: Sizes, axis: int) -> Sizes:
    """Return the shape of the updates of a scatter: slices of data, or one element for each index."""
    if op.along is Along.COORDINATES:
        return (*indices[:-1], *data[indices[-1] :])
    return indices if op.meaning.reduces else (*data[: axis % len(data)], *indices, *data[axis % len(data) + 1 :])


_INDICES: Mapping[str, Callable[[np.random.Generator, Operation, Sizes, int], tuple[Sizes, Text]]] = {
    "GatherElements": _of_elements,
    "Gather": _of_slices,
    "GatherND": _of_tuples,
    "ScatterElements": _of_updates,
    "ScatterElementsUpdate": _of_updates,
    "ScatterUpdate": lambda rng, operation, data, axis: (_sizes(rng, int(rng.choice([0, 1, 1, 1, 2, 2]))), {}),
    "ScatterND": _of_places_by_tuples,
    "ScatterNDUpdate": _of_places_by_tuples,
}
