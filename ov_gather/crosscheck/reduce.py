"""Reduction of failed cases: shrink a case while it still fails, and write it to disk with the command that replays it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import Case, as_cases, operands
from ov_gather.crosscheck.cases.values import as_declared
from ov_gather.crosscheck.layers import EXPECTED_OUTPUT, Job, LayerChecks, read_expected, write_expected
from ov_gather.crosscheck.results import CaseResult, Comparison
from ov_gather.crosscheck.verdict import Observation, Outcome, judge, of_all_outputs, reference_outcome
from ov_gather.extension.users import UserExtension
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import DYNAMIC
from ov_gather.ir.model import Model
from ov_gather.ir.reader import read_ir
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.users import declared_files
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import RUNTIMES, IsolatedRuntime, borrowed
from ov_gather.system.files import replacing

ATTEMPTS = 60
"""Maximum number of smaller cases tried per failure."""

Arrays = list[NDArray[Any]]
FailureT = TypeVar("FailureT")


@dataclass(frozen=True, slots=True)
class Reducer:
    """Reduces failed cases and writes each to a folder below `directory`, which is created for the first one."""

    directory: Path
    device: str = CPU
    extensions: tuple[UserExtension, ...] = ()

    def __call__(self, view: LayerView, case: Case, result: CaseResult, expected: Any) -> CaseResult:
        """Reduce and write a case, execute the written case, and add the replay command to the result. Raises OSError."""
        failed = next(comparison for comparison in result.comparisons if not comparison.passed)
        name, arrays = failed.runtime, operands(view, case.inputs)
        # The expected output holds for this case only, and a smaller case may hang for as long.
        if name in RUNTIMES and not failed.hangs:
            # A second instance: the one that failed has more cases queued.
            with borrowed([name], self.device, self.extensions) as (runtime,):
                arrays = _shrunk(_Failure(view, runtime, case.threads, arrays), arrays)
        path = new_folder(self.directory, f"{view.layer.name}-{case.name}-{name}") / "layer.xml"
        files = _write(path, view, arrays)
        if name == EXPECTED_OUTPUT:
            write_expected(path, {view.layer.name or view.operation.type: expected})
        executed = name if name in RUNTIMES else "kernel"
        inputs = (word for file in files for word in ("--input", f"{file.stem}={file}"))
        device = ["--device", self.device] if self.device != CPU else []
        own = [word for given in declared_files() for word in ("--ops", given.name)] if not view.is_of_family else []
        own += [word for given in self.extensions for word in ("--extension", given.name)]
        replay = shlex.join(["ov-gather", "check", str(path), *inputs, "--runtimes", executed, *device, *own])
        return replace(result, replay=replay, passes_again=_passes(path, files, executed, self.device, self.extensions))


@dataclass(frozen=True, slots=True)
class _Failure:
    """The failure to preserve: the runtime fails, and the reference refuses the case if and only if it refused the original."""

    view: LayerView
    runtime: IsolatedRuntime[Model]
    threads: int
    original: Arrays

    def is_shown_by(self, arrays: Arrays) -> bool:
        try:
            model = _layer_for(self.view, arrays)
            alone = next(family_layers(model))
            right = reference_outcome(alone, arrays)
        except (TypeError, ValueError):
            return False
        if isinstance(right, Exception) != isinstance(reference_outcome(self.view, self.original), Exception):
            return False
        given = [array for port, array in enumerate(arrays) if alone.constant(port) is None]
        outputs = self.runtime.run(model, given, self.threads)
        one = self.runtime

        def judge_one(expected: Outcome, found: Outcome) -> Comparison:
            return judge(one.name, one.version, expected, Observation(found), alone, arrays, one.devices)

        return not of_all_outputs(alone.operation.outputs, right, outputs, judge_one).passed


def _shrunk(failure: _Failure, arrays: Arrays) -> Arrays:
    def candidates(arrays: Arrays) -> Iterator[Arrays | None]:
        return (candidate if failure.is_shown_by(candidate) else None for candidate in _smaller(failure.view, arrays))

    return shrunk(arrays, candidates, ATTEMPTS)


def _smaller(view: LayerView, arrays: Arrays) -> Iterator[Arrays]:
    """Yield smaller cases: every dimension of a given size halved (first or last half), then one input set to zeros."""
    attribute_ports = {port for port, given in enumerate(view.operation.inputs) if given.attribute}
    for size in sorted(
        {size for port, array in enumerate(arrays) for size in array.shape if port not in attribute_ports}, reverse=True
    ):
        half = size // 2
        for part in (slice(0, half), slice(half, None)) if half else ():
            yield [array if port in attribute_ports else cut(array, size, part) for port, array in enumerate(arrays)]
    for port, array in enumerate(arrays):
        plain = np.zeros_like(array) if array.dtype.kind in "biuf" else array
        if port not in attribute_ports and (array != plain).any():
            yield [*arrays[:port], plain, *arrays[port + 1 :]]


def _layer_for(view: LayerView, arrays: Arrays) -> Model:
    """Rebuild the layer for these input shapes; constants stay constants. Raises ValueError if the shapes do not fit."""
    builder = ModelBuilder(view.layer.name or view.operation.type)
    inputs = []
    for port, (given, array) in enumerate(zip(view.operation.inputs, arrays, strict=True)):
        element_type = view.input_types[port] or DYNAMIC
        if view.constant(port) is None:
            inputs.append(builder.parameter(given.name, element_type, PartialShape.of(array.shape)))
        else:
            inputs.append(builder.const(given.name, element_type, array))
    version = view.layer.version or view.operation.opsets[0]
    outputs = [(inputs[0].element_type, PartialShape.of(())) for _ in view.operation.outputs]  # isolating infers them again
    builder.layer(view.operation.type, builder.name, version, view.layer.attributes, inputs, outputs)
    return isolate(next(family_layers(builder.build())))


def _write(path: Path, view: LayerView, arrays: Sequence[NDArray[Any]]) -> list[Path]:
    """Write the layer with its inputs beside it, and return the files of the inputs."""
    write_ir(_layer_for(view, list(arrays)), path)
    files = []
    for port, (given, array) in enumerate(zip(view.operation.inputs, arrays, strict=True)):
        if view.constant(port) is None:
            files.append(path.with_name(f"{given.name}.npy"))
            with replacing(files[-1]) as stream:
                np.save(stream, array.astype(str) if array.dtype.hasobject else array)
    return files


def _passes(path: Path, files: Sequence[Path], runtime: str, device: str, extensions: tuple[UserExtension, ...]) -> bool:
    """Check the written case as the replay command does; return True if nothing fails."""
    (view,) = family_layers(read_ir(path))
    types = [kind for port, kind in enumerate(view.input_types) if view.constant(port) is None]
    inputs = [as_declared(np.load(file), kind) for file, kind in zip(files, types, strict=True)]
    job = Job(view, lambda alone: as_cases(inputs), expected=read_expected(str(path)).get(view.layer.name))
    with borrowed([runtime], device, extensions) as runtimes, LayerChecks(runtimes) as checks:
        return all(layer.passed for _, layer in checks.run([job]))


def shrunk(failure: FailureT, smaller: Callable[[FailureT], Iterable[FailureT | None]], attempts: int) -> FailureT:
    """Replace a failure by the first of `smaller` that still fails, and repeat until none does, for up to `attempts` trials.

    `smaller` yields None for a candidate that does not fail.
    """
    tried = 0
    while tried < attempts:
        for found in islice(smaller(failure), attempts - tried):
            tried += 1
            if found is not None:
                failure = found
                break
        else:
            break
    return failure


def cut(array: NDArray[Any], size: int, part: slice) -> NDArray[Any]:
    """Return a part of each dimension that has this size."""
    return array[tuple(part if n == size else slice(None) for n in array.shape)]


def new_folder(directory: Path, name: str) -> Path:
    """Create a folder named after a layer or a node. Raises OSError."""
    words = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "node"
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(10_000):
        folder = directory / (f"{words}-{number}" if number else words)
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise OSError(f"{directory} has too many folders named {words}")
