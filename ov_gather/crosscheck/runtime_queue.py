"""Queues of cases, one per runtime: a queue executes the cases of layer after layer, and judges the results.

Queues run in parallel; results are joined once all cases of a layer are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import Case
from ov_gather.crosscheck.results import Comparison, Status
from ov_gather.crosscheck.verdict import Observation, Outcome, Outcomes, judge, of_all_outputs
from ov_gather.divergences.base import Observed
from ov_gather.divergences.register import explaining, is_predicted
from ov_gather.ir.model import Model
from ov_gather.ops.layer_view import LayerView
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system.worker import CrashedError, HungError


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with all inputs of the layer, constants included, and the expected outcome."""

    case: Case
    operands: Sequence[NDArray[Any]]
    right: Outcomes


@dataclass(frozen=True, slots=True)
class QueueResult:
    """One comparison per trial on one runtime, and the crashes on freeing a model, each with its number of threads."""

    comparisons: Sequence[Comparison]
    crashes: Sequence[tuple[int, Comparison]]


@dataclass(frozen=True, slots=True)
class RunningCase:
    """The case that a runtime executes at present, and its start in seconds of the clock `monotonic`."""

    layer: str
    since: float


class RuntimeQueue:
    """Queue of one runtime, served by a single thread. Use as a context manager."""

    def __init__(self, runtime: IsolatedRuntime[Model]) -> None:
        self.runtime = runtime
        self.running: RunningCase | None = None
        self._pool = ThreadPoolExecutor(1)
        self._session: _Session | None = None

    def __enter__(self) -> RuntimeQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def submit(self, model: Model, view: LayerView, trials: Sequence[PreparedCase], *, is_last: bool) -> Future[QueueResult]:
        """Enqueue trials behind those submitted before. The model stays loaded for the next trials, unless `is_last`."""
        return self._pool.submit(self._execute, model, view, trials, is_last)

    def _execute(self, model: Model, view: LayerView, trials: Sequence[PreparedCase], is_last: bool) -> QueueResult:
        comparisons, crashes = [], []
        try:
            for trial in trials:
                self.running = RunningCase(f"{view.operation.name} '{view.layer.name}', case '{trial.case.name}'", monotonic())
                if self._session and (self._session.model is not model or self._session.threads != trial.case.threads):
                    crashes += self._end()
                if self._session is None:
                    self._session = _Session(self.runtime, model, trial.case.threads)
                comparisons.append(self._session.judge(view, trial))
            if is_last:
                crashes += self._end()
        finally:
            self.running = None
        return QueueResult(comparisons, crashes)

    def _end(self) -> list[tuple[int, Comparison]]:
        """Free the loaded model; a crash is returned as a failed comparison."""
        session, self._session = self._session, None
        try:
            if session:
                session.end()
        except CrashedError as error:
            assert session is not None  # only `end` crashes
            crash = Comparison(self.runtime.name, Status.FAILED, str(error), hangs=isinstance(error, HungError))
            return [(session.threads, crash)]
        return []


class _Session:
    """A model on a runtime, for several cases.

    `suspect` means possibly corrupted memory, after an unpredicted output where a refusal is right, or a case known to crash.
    """

    def __init__(self, runtime: IsolatedRuntime[Model], model: Model, threads: int) -> None:
        self.runtime, self.model, self.threads = runtime, model, threads
        self.suspect = False
        self._refusal: Exception | None = None
        self._is_active = self._has_refused = False

    def judge(self, view: LayerView, trial: PreparedCase) -> Comparison:
        """Execute one case, and compare the outcome with the expected one."""
        found, seconds = self._observe(trial.case)
        name, version, devices = self.runtime.name, self.runtime.version, self.runtime.devices

        def judge_one(right: Outcome, found: Outcome) -> Comparison:
            return judge(name, version, right, Observation(found, seconds), view, trial.operands, devices)

        comparison = of_all_outputs(view.operation.outputs, trial.right, found, judge_one)
        answers = isinstance(trial.right, Exception) and not isinstance(found, Exception)
        unsafe = next(explaining(name, version, Observed.CRASHES, view, trial.operands, devices), None)
        self.suspect |= unsafe is not None or (answers and not is_predicted(comparison.divergences))
        return comparison

    def _observe(self, case: Case) -> tuple[Outcomes, float | None]:
        """Execute one case, in a new process after a suspect case; return the seconds, too, if it was executed.

        The model is loaded again after a crash, and after a refusal, as OpenVINO may keep refusing.
        """
        if self._refusal:
            return self._refusal, None
        try:
            if self.suspect and not case.out_of_bounds:
                self.runtime.stop()
                self._is_active = self._has_refused = self.suspect = False
            if self._has_refused and not case.out_of_bounds:
                self.runtime.close()
                self._is_active = self._has_refused = False
            if not self._is_active:
                self._activate()
            return self.runtime.execute(case.inputs), self.runtime.seconds
        except CrashedError as error:
            self._is_active = False
            if isinstance(error, HungError):  # or each case would wait for the time-out
                self._refusal = CrashedError(f"is not executed: in case '{case.name}' it {error}")
            return error, None
        except (RefusedError, IndexError) as error:
            self._has_refused = True
            return error, self.runtime.seconds

    def _activate(self) -> None:
        try:
            self.runtime.activate(self.model, self.threads)
            self._is_active = True
        except RefusedError as error:
            self._refusal = error
            raise

    def end(self) -> None:
        """Free the model; end the process if it is suspect. Raises CrashedError."""
        if self.suspect:
            self.runtime.stop()
        elif self._is_active:
            self.runtime.close()
