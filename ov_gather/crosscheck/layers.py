"""One layer is executed in its cases on every runtime, and compared with the NumPy reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import Case, operands
from ov_gather.crosscheck.comparisons import CaseResult, Comparison, Difference, LayerResult, Status
from ov_gather.crosscheck.verdict import Observation, Outcome, first_difference, judge
from ov_gather.divergences.base import Divergence
from ov_gather.divergences.register import is_predicted, lacking
from ov_gather.ir.model import Model
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.reference import evaluate
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime

Runtimes = Sequence[IsolatedRuntime[Model]]


def check_layer(
    view: LayerView,
    make_cases: Callable[[LayerView], Iterable[Case]],
    runtimes: Runtimes,
    expected: Any = None,
    reducer: Callable[[LayerView, Case, CaseResult], str] | None = None,
) -> LayerResult:
    """Execute a layer, isolated from its graph, and compare.

    Args:
        view: the layer in its graph.
        make_cases: gives the cases for the isolated layer. Raises TypeError, ValueError where there are none.
        runtimes: the runtimes that are compared.
        expected: the values of the layer's output, where a file beside the IR tells them.
        reducer: called with the first case that fails; it returns the command that replays the case.
    """
    path, layer = view.graph.path, view.layer.name or view.layer.type
    try:
        model = isolate(view)
        alone = next(family_layers(model))
        results = []
        for case, result in check_cases(model, alone, make_cases(alone), runtimes, expected):
            if reducer and not result.passed:
                result = replace(result, replay=reducer(alone, case, result))
                reducer = None  # one failure of a layer tells enough
            results.append(result)
    except (TypeError, ValueError) as error:
        return LayerResult(path, layer, view.operation.name, problem=f"not executed: {error}")
    types = [element_type for element_type in alone.input_types if element_type]
    return LayerResult(
        path,
        layer,
        view.operation.name,
        {given.name: element_type.name for given, element_type in zip(view.operation.inputs, types, strict=True)},
        {name: str(value) for name, value in alone.read_attributes().items()},
        kernel_name(types[0].dtype),
        tuple(results),
        view.assumptions,
        _problem(results),
    )


def _problem(results: Sequence[CaseResult]) -> str:
    """Tell why there is nothing that a layer could pass in; "" if there is something."""
    if not results:
        return "there is no case: its inputs have no valid value"
    others = [comparison for case in results for comparison in case.comparisons if comparison.runtime != "kernel"]
    if others and all(comparison.status is Status.NOT_APPLICABLE for comparison in others):
        return "nothing to compare with: no other runtime can execute this, and there is no expected output"
    return ""


def check_cases(
    model: Model, view: LayerView, cases: Iterable[Case], runtimes: Runtimes, expected: Any = None
) -> Iterator[tuple[Case, CaseResult]]:
    """Execute each case on each runtime, all of which work at the same time."""
    missing = {runtime.name: lacking(runtime.name, runtime.version, view) for runtime in runtimes}
    asked = [runtime for runtime in runtimes if not missing[runtime.name]]
    with ThreadPoolExecutor(len(runtimes)) as pool:
        for threads, group in groupby(cases, lambda case: case.threads):
            sessions = [_Session(runtime, model, threads) for runtime in asked]
            for case in group:
                inputs = operands(view, case.inputs)
                right = reference_outcome(view, inputs)
                observations = pool.map(lambda session, case=case: session.execute(case), sessions)
                found = {name: _lacks(name, known) for name, known in missing.items() if known}
                for session, observation in zip(sessions, observations, strict=True):
                    runtime = session.runtime
                    comparison = judge(runtime.name, runtime.version, right, observation, view, inputs)
                    answers = isinstance(right, Exception) and not isinstance(observation.outcome, Exception)
                    session.suspect |= answers and not is_predicted(comparison.divergences)
                    found[runtime.name] = comparison
                comparisons = [found[name] for name in missing]
                if expected is not None:
                    comparisons.append(_compare_expected(right, expected))
                yield case, CaseResult(case.name, tuple(array.shape for array in inputs), threads, tuple(comparisons))
            for session in sessions:
                try:
                    session.end()
                except CrashedError as error:
                    crash = Comparison(session.runtime.name, Status.FAILED, str(error))
                    yield case, CaseResult("freeing the model", (), threads, (crash,))


def _lacks(runtime: str, known: Divergence) -> Comparison:
    return Comparison(runtime, Status.NOT_APPLICABLE, divergences=(known.name,))


def reference_outcome(view: LayerView, inputs: Sequence[NDArray[Any]]) -> Outcome:
    """Compute what is right: an output, or the IndexError that names an index out of bounds."""
    try:
        return evaluate(view.operation, inputs, view.attributes_for(inputs))
    except IndexError as error:
        return error


class _Session:
    """A model on a runtime, for several cases. It is `suspect` once it answered, unpredictably, where it should refuse."""

    def __init__(self, runtime: IsolatedRuntime[Model], model: Model, threads: int) -> None:
        self.runtime, self.model, self.threads = runtime, model, threads
        self.suspect = False
        self._refusal: Exception | None = None
        self._is_active = self._has_refused = False

    def execute(self, case: Case) -> Observation:
        """Execute one case. The model is loaded again after a crash, and after a refusal, for OpenVINO may go on to refuse."""
        if self._refusal:
            return Observation(self._refusal)
        try:
            if self._has_refused and not case.out_of_bounds:
                self.runtime.close()
                self._is_active = self._has_refused = False
            if not self._is_active:
                self._activate()
            return Observation(self.runtime.execute(case.inputs)[0], self.runtime.seconds)
        except CrashedError as error:
            self._is_active = False
            return Observation(error)
        except (RefusedError, IndexError) as error:
            self._has_refused = True
            return Observation(error, self.runtime.seconds)

    def _activate(self) -> None:
        try:
            self.runtime.activate(self.model, self.threads)
            self._is_active = True
        except RefusedError as error:
            self._refusal = error
            raise

    def end(self) -> None:
        """Free the model. A suspect process may have overwritten its memory, so it is ended. Raises CrashedError."""
        if self.suspect:
            self.runtime.stop()
        elif self._is_active:
            self.runtime.close()


def _compare_expected(right: Outcome, values: Any) -> Comparison:
    if isinstance(right, Exception):
        return Comparison("expected output", Status.FAILED, f"there is none: {right}")
    try:
        difference = first_difference(np.asarray(values, right.dtype), right)
    except ValueError as error:
        difference = str(error)
    where = difference if isinstance(difference, Difference) else None
    return Comparison("expected output", Status.FAILED if difference else Status.PASSED, str(difference), difference=where)
