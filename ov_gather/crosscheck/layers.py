"""Execution of layers on every runtime, compared with the NumPy reference. Identical layers are executed once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ov_gather.crosscheck.cases.designed import OWN_OPERANDS, Case, operands
from ov_gather.crosscheck.results import CaseResult, Comparison, Difference, LayerResult, Status
from ov_gather.crosscheck.runtime_queue import PreparedCase, QueueResult, RuntimeQueue
from ov_gather.crosscheck.verdict import Outcomes, confirm_failure, first_difference, reference_outcome
from ov_gather.divergences.register import lacking
from ov_gather.graph.excerpts import Excerpt, around
from ov_gather.ir.constants import payload
from ov_gather.ir.model import Model
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.fields import OperationError
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system.files import replacing

Reducer = Callable[[LayerView, Case, CaseResult, Any], CaseResult]
"""Writes a failed case to disk and adds the command that replays it. The last argument is the expected output, if any."""

EXPECTED_OUTPUT = "expected output"
"""Runtime name of the comparison with the file of expected outputs."""
MAX_PENDING_BYTES = 1 << 26
"""Maximum bytes of inputs that wait for the runtimes; a single case may exceed it."""
MAX_PENDING_LAYERS = 2
"""Number of layers whose cases are prepared while the runtimes execute another layer."""


@dataclass(frozen=True, slots=True)
class Job:
    """A layer to check.

    Attributes:
        view: the layer in its graph.
        make_cases: makes the cases for the isolated layer. Raises TypeError, ValueError if there are none.
        own: the case with the layer's operands in the model.
        expected: the layer's output according to the file of expected outputs; None if it has no entry.
        is_alone: whether the cases must not be shared with identical layers.
    """

    view: LayerView
    make_cases: Callable[[LayerView], Iterable[Case]]
    own: Case | None = None
    expected: Any = None
    is_alone: bool = False

    @property
    def name(self) -> str:
        """Name of the layer in reports."""
        return self.view.layer.name or self.view.layer.type

    def identity(self) -> Hashable:
        """Return a key that is equal for layers that differ only in names; None if the result must not be shared."""
        view = self.view
        if self.is_alone or self.expected is not None:
            return None
        try:
            constants = tuple(
                sha256(payload(view.graph, source[0])).digest() if source and source[0].type == "Const" else None
                for source in map(view.producer, range(len(view.layer.inputs)))
            )
        except ValueError:  # an unreadable constant, which the execution reports
            return None
        attributes = frozenset(view.layer.attributes.items())
        return view.operation.name, view.layer.version, attributes, view.input_types, view.input_shapes, constants


class LayerChecks:
    """Execution and comparison of isolated layers. Use as a context manager.

    Layers that differ only in names share the results of the first; each is only executed on its own operands from the model.
    """

    def __init__(self, runtimes: Sequence[IsolatedRuntime[Model]], reducer: Reducer | None = None) -> None:
        self.queues = [RuntimeQueue(runtime) for runtime in runtimes]
        self._reducer = reducer
        self._stack = ExitStack()
        self._first: dict[Hashable, LayerResult] = {}

    def __enter__(self) -> LayerChecks:
        for queue in self.queues:
            self._stack.enter_context(queue)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, LayerResult]]:
        """Yield the position of each job with its result, in the order of completion."""
        groups: dict[Hashable, list[int]] = {}
        for position, job in enumerate(jobs):
            groups.setdefault(job.identity() or object(), []).append(position)
        waiting: deque[tuple[int, Hashable, _Execution]] = deque()
        for identity, positions in groups.items():
            for execution in self._group(identity, [jobs[position] for position in positions]):
                waiting.append((positions.pop(0), identity, execution))
                while len(waiting) > MAX_PENDING_LAYERS or sum(other.size for _, _, other in waiting) > MAX_PENDING_BYTES:
                    yield self._finished(*waiting.popleft())
        while waiting:
            yield self._finished(*waiting.popleft())

    def _group(self, identity: Hashable, jobs: Sequence[Job]) -> Iterator[_Execution]:
        """Start executing identical layers, one after another, on the same isolated model."""
        try:
            model = isolate(jobs[0].view)
            alone = next(family_layers(model))
        except (TypeError, ValueError) as error:
            yield from (_Execution(job, problem=f"not executed: {error}") for job in jobs)
            return
        for number, job in enumerate(jobs):
            execution = _Execution(job, alone, self.queues, self._reducer if number == 0 else None)
            is_first = number == 0 and identity not in self._first
            designed = job.make_cases(alone) if is_first else ()
            execution.begin(model, chain([job.own] if job.own else (), designed), is_last=job is jobs[-1])
            yield execution

    def _finished(self, position: int, identity: Hashable, execution: _Execution) -> tuple[int, LayerResult]:
        result = execution.result()
        first = self._first.setdefault(identity, result)
        if first is not result and not execution.problem:
            result = _renamed(first, result)
        return position, result if result.passed else replace(result, surroundings=execution.surroundings())


def _renamed(first: LayerResult, result: LayerResult) -> LayerResult:
    """Append the first layer's cases to those of an identical layer."""
    shared = [case for case in first.cases if case.name != OWN_OPERANDS]
    cases = (*result.cases, *shared)
    problem = first.problem or _problem(cases)
    return replace(first, layer=result.layer, path=result.path, cases=cases, problem=problem, executed_as=first.layer)


class _Execution:
    """Execution of one layer. Cases are submitted to the queues together, or in batches if they exceed MAX_PENDING_BYTES."""

    def __init__(
        self,
        job: Job,
        alone: LayerView | None = None,
        queues: Sequence[RuntimeQueue] = (),
        reducer: Reducer | None = None,
        problem: str = "",
    ) -> None:
        self.size = 0
        self._job, self._alone, self._queues, self._reducer, self.problem = job, alone, queues, reducer, problem
        self._results: list[CaseResult] = []
        self._last = Case("none", ())
        self._trials: list[PreparedCase] = []
        self._futures: list[Future[QueueResult]] = []
        if alone:
            able = [queue for queue in queues if _may_execute(queue.runtime, alone)]
            self._missing = {
                one.name: lacking(one.name, one.version, alone, one.devices) for one in (queue.runtime for queue in able)
            }
            self._asked = [queue for queue in able if not self._missing[queue.runtime.name]]

    def begin(self, model: Model, cases: Iterable[Case], *, is_last: bool) -> None:
        """Make the cases and submit them to all runtimes; wait for each batch that exceeds MAX_PENDING_BYTES."""
        assert self._alone is not None  # jobs without an isolated layer are not begun
        try:
            for case in cases:
                inputs = operands(self._alone, case.inputs)
                self._trials.append(PreparedCase(case, inputs, reference_outcome(self._alone, inputs)))
                self.size += sum(array.nbytes for array in case.inputs)
                if self.size > MAX_PENDING_BYTES:
                    self._submit(model, is_last=False)
                    self._collect()
        except (TypeError, ValueError) as error:
            self.problem = f"not executed: {error}"
            self._trials = []
        self._submit(model, is_last=is_last)

    def _submit(self, model: Model, *, is_last: bool) -> None:
        assert self._alone is not None  # as in `begin`
        self._futures = [queue.submit(model, self._alone, self._trials, is_last=is_last) for queue in self._asked]

    def _collect(self) -> None:
        """Wait for the submitted trials, and join the comparisons of all runtimes by case. Raises OperationError."""
        assert self._alone is not None  # as in `begin`
        judged = {queue.runtime.name: future.result() for queue, future in zip(self._asked, self._futures, strict=True)}
        for number, trial in enumerate(self._trials):
            comparisons = [
                Comparison(name, Status.NOT_APPLICABLE, divergences=(known.name,))
                if known
                else judged[name].comparisons[number]
                for name, known in self._missing.items()
            ]
            if self._job.expected is not None:
                comparisons.append(_compare_expected(trial.right, self._job.expected))
            confirm_failure(self._alone, trial.operands, trial.right, comparisons)
            shapes = tuple(array.shape for array in trial.operands)
            self._add(trial.case, CaseResult(trial.case.name, shapes, trial.case.threads, tuple(comparisons)))
            self._last = trial.case
        for found in judged.values():
            for threads, crash in found.crashes:
                self._add(self._last, CaseResult("freeing the model", (), threads, (crash,)))
        self._trials, self._futures, self.size = [], [], 0

    def _add(self, case: Case, result: CaseResult) -> None:
        if self._reducer and not result.passed and self._alone:
            result = self._reducer(self._alone, case, result, self._job.expected)
            self._reducer = None  # only the first failure of a layer is reduced
        self._results.append(result)

    def surroundings(self) -> Excerpt:
        """Return what feeds the layer in its model."""
        view = self._job.view
        return around(view.graph, view.layer, [given.name for given in view.operation.inputs])

    def result(self) -> LayerResult:
        """Wait for all runtimes, and return the layer's result."""
        view = self._job.view
        if self._alone and not self.problem:
            try:
                self._collect()
            except OperationError as error:
                self.problem = f"not executed: {error}"
        if self._alone is None or self.problem:
            return LayerResult(view.graph.path, self._job.name, view.operation.name, problem=self.problem)
        types = [element_type for element_type in self._alone.input_types if element_type]
        return LayerResult(
            view.graph.path,
            self._job.name,
            view.operation.name,
            {given.name: element_type.name for given, element_type in zip(view.operation.inputs, types, strict=True)},
            {name: str(value) for name, value in self._alone.read_attributes().items()},
            kernel_name(types[0].dtype) if self._alone.is_of_family else "",
            tuple(self._results),
            view.assumptions,
            _problem(self._results),
        )


def _may_execute(runtime: IsolatedRuntime[Model], view: LayerView) -> bool:
    """Return True if a runtime can have the operation: one of users is executed by OpenVINO only, with their library."""
    return view.is_of_family or (runtime.name == "openvino" and bool(runtime.extensions))


def _problem(results: Sequence[CaseResult]) -> str:
    """Return why the layer cannot pass regardless of its comparisons; "" if it can."""
    if not results:
        return "there is no case: its inputs have no valid value"
    if not any(case.comparisons for case in results):
        return "nothing to compare with: give the library that executes this by --extension, and the runtime openvino"
    others = [comparison for case in results for comparison in case.comparisons if comparison.runtime != "kernel"]
    if others and all(comparison.status is Status.NOT_APPLICABLE for comparison in others):
        return "nothing to compare with: no other runtime can execute this, and there is no expected output"
    return ""


def _compare_expected(outputs: Outcomes, values: Any) -> Comparison:
    if isinstance(outputs, Exception):
        return Comparison(EXPECTED_OUTPUT, Status.FAILED, f"there is none: {outputs}")
    right = outputs[0]
    try:
        difference = first_difference(np.asarray(values, right.dtype), right)
    except ValueError as error:
        difference = str(error)
    where = difference if isinstance(difference, Difference) else None
    return Comparison(EXPECTED_OUTPUT, Status.FAILED if difference else Status.PASSED, str(difference), difference=where)


def read_expected(path: str) -> Mapping[str, Any]:
    """Read the outputs by layer name from `x.expected.json` beside `x.xml`, if it exists. Raises OSError, ValueError."""
    if not path or not (file := _beside(Path(path))).is_file():
        return {}
    try:
        values = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file}: must be an object that gives the values for each layer name")
    return values


def write_expected(path: Path, values: Mapping[str, Any]) -> None:
    """Write expected outputs beside an IR. Raises OSError."""
    with replacing(_beside(path)) as stream:
        stream.write(json.dumps(values).encode())


def _beside(path: Path) -> Path:
    return path.with_suffix(".expected.json")
