"""One layer in its cases, on every runtime, against the NumPy reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import Case, operands
from ov_gather.crosscheck.results import CaseResult, Comparison, Difference, LayerResult, Status
from ov_gather.crosscheck.verdict import Outcome, Seen, first_difference, judge
from ov_gather.divergences import is_predicted, lacking
from ov_gather.divergences.base import Divergence
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
    keep: Callable[[LayerView, Case, CaseResult], str] | None = None,
) -> LayerResult:
    """Execute a layer, isolated from its graph, and compare.

    Args:
        view: the layer in its graph.
        make_cases: gives the cases for the isolated layer. Raises TypeError, ValueError where there are none.
        runtimes: those to compare.
        expected: the values of its output, where its file tells them.
        keep: called with the first case that fails; the command that it returns replays it.
    """
    path, layer = view.graph.path, view.layer.name or view.layer.type
    try:
        model = isolate(view)
        alone = next(family_layers(model))
        results = []
        for case, result in check_cases(model, alone, make_cases(alone), runtimes, expected):
            if keep and not result.passed:
                result = replace(result, replay=keep(alone, case, result))
                keep = None  # one of a layer tells enough
            results.append(result)
    except (TypeError, ValueError) as error:
        return LayerResult(path, layer, view.operation.name, problem=f"not executed: {error}")
    types = [element_type for element_type in alone.input_types if element_type]
    return LayerResult(
        path,
        layer,
        view.operation.name,
        {it.name: element_type.name for it, element_type in zip(view.operation.inputs, types, strict=True)},
        {name: str(value) for name, value in alone.read_attributes().items()},
        kernel_name(types[0].dtype),
        tuple(results),
        view.assumptions,
        _problem(results),
    )


def _problem(results: Sequence[CaseResult]) -> str:
    """Why there is nothing that a layer could pass in."""
    if not results:
        return "there is no case: its inputs have no valid value"
    others = [it for case in results for it in case.comparisons if it.runtime != "kernel"]
    if others and all(it.status is Status.NOT_APPLICABLE for it in others):
        return "nothing to compare with: no other runtime can execute this, and there is no expected output"
    return ""


def check_cases(
    model: Model, view: LayerView, cases: Iterable[Case], runtimes: Runtimes, expected: Any = None
) -> Iterator[tuple[Case, CaseResult]]:
    """Each case on each runtime, all of which work at the same time."""
    missing = {runtime.name: lacking(runtime.name, runtime.version, view) for runtime in runtimes}
    asked = [runtime for runtime in runtimes if not missing[runtime.name]]
    with ThreadPoolExecutor(len(runtimes)) as pool:
        for threads, group in groupby(cases, lambda case: case.threads):
            sessions = [_Session(runtime, model, threads) for runtime in asked]
            for case in group:
                inputs = operands(view, case.inputs)
                right = reference_outcome(view, inputs)
                seen = pool.map(lambda session, case=case: session.execute(case), sessions)
                found = {name: _lacks(name, known) for name, known in missing.items() if known}
                for session, it in zip(sessions, seen, strict=True):
                    runtime = session.runtime
                    comparison = judge(runtime.name, runtime.version, right, it, view, inputs)
                    answers = isinstance(right, Exception) and not isinstance(it.outcome, Exception)
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
    """What is right: an output, or the IndexError that names an index out of bounds."""
    try:
        return evaluate(view.operation, inputs, view.attributes_for(inputs))
    except IndexError as error:
        return error


class _Session:
    """One model on one runtime, for several cases. It is `suspect` once it answered where it should refuse, unpredictably."""

    def __init__(self, runtime: IsolatedRuntime[Model], model: Model, threads: int) -> None:
        self.runtime, self.model, self.threads = runtime, model, threads
        self.suspect = False
        self._refusal: Exception | None = None
        self._is_active = self._has_refused = False

    def execute(self, case: Case) -> Seen:
        """One case. After a crash the model is loaded again; after a refusal too, for one of OpenVINO's may stick."""
        if self._refusal:
            return Seen(self._refusal)
        try:
            if self._has_refused and not case.out_of_bounds:
                self.runtime.close()
                self._is_active = self._has_refused = False
            if not self._is_active:
                self._activate()
            return Seen(self.runtime.execute(case.inputs)[0], self.runtime.seconds)
        except CrashedError as error:
            self._is_active = False
            return Seen(error)
        except (RefusedError, IndexError) as error:
            self._has_refused = True
            return Seen(error, self.runtime.seconds)

    def _activate(self) -> None:
        try:
            self.runtime.activate(self.model, self.threads)
            self._is_active = True
        except RefusedError as error:
            self._refusal = error
            raise

    def end(self) -> None:
        """Free the model. A suspect may have written anywhere: nothing else shall suffer from that. Raises CrashedError."""
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
