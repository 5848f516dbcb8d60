"""Execute every gather-family layer of an IR in designed cases, and compare the runtimes with the NumPy reference."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ov_gather.cases import DEFAULT_CASES, DEFAULT_SEED, Case, check_given, designed, operands
from ov_gather.divergences import Divergence, is_predicted, lacking
from ov_gather.environment import environment
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, read_ir
from ov_gather.judgement import Outcome, Seen, first_difference, judge
from ov_gather.kernels.gather_elements import kernel_name
from ov_gather.kernels.oracle import evaluate
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.results import CaseResult, Comparison, CrossCheckResult, Difference, LayerResult, Status
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import RUNTIMES, IsolatedRuntime, borrowed

Runtimes = Sequence[IsolatedRuntime[Model]]


def cross_check(
    source: Source | Model,
    inputs: Sequence[ArrayLike] | None = None,
    *,
    runtimes: Sequence[str] = ("kernel", "openvino"),
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
) -> CrossCheckResult:
    """Execute each gather-family layer, isolated from its graph, on several runtimes, and compare with the NumPy reference.

    Args:
        source: what `read_ir` takes, or a Model. Beside `x.xml`, a file `x.expected.json` ({layer name: values}) with the
            outputs of layers whose inputs are all constant is compared, too.
        inputs: the inputs of the only layer that are not constant, in order; designed cases if not given.
        runtimes: of "kernel", "openvino", "extension" (OpenVINO with our operations) and "onnxruntime".
        seed: for the designed cases.
        cases: at most so many for a layer.

    Returns:
        A result with `.passed`, `.divergences` and `.table()`.

    Raises:
        IRError: the document cannot be read.
        TypeError, ValueError: a runtime is unknown; `inputs` do not fit the layer, or are given for a source with several.
        FileNotFoundError, ImportError: a runtime is not installed.
    """
    for name in runtimes:
        if name not in RUNTIMES:
            raise ValueError(f"there is no runtime '{name}'; there are {', '.join(RUNTIMES)}")
    if not runtimes or cases < 1:
        raise ValueError("there must be a runtime and a case at least")
    with borrowed(runtimes) as others:  # they start while the document is read
        model = source if isinstance(source, Model) else read_ir(source)
        views = [view for _, graph in model.walk() for view in family_layers(graph)]
        if inputs is not None and len(views) != 1:
            raise ValueError(f"inputs are given, but there are {len(views)} gather-family layers")
        given = None if inputs is None else [np.asarray(array) for array in inputs]
        if given is not None:
            check_given(isolate(views[0]), given)
        expected = _expected_outputs(model.path)
        layers = tuple(_check_layer(model.path, view, given, others, expected, seed, cases) for view in views)
        return CrossCheckResult(layers, seed, environment(others))


def _expected_outputs(path: str) -> Mapping[str, Any]:
    if not path or not (file := Path(path).with_suffix(".expected.json")).is_file():
        return {}
    try:
        values = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file}: must be an object that gives the values for each layer name")
    return values


def _check_layer(
    path: str,
    view: LayerView,
    given: list[NDArray[Any]] | None,
    runtimes: Runtimes,
    expected: Mapping[str, Any],
    seed: int,
    limit: int,
) -> LayerResult:
    layer = view.layer.name or view.layer.type
    try:
        model = isolate(view)
        alone = next(family_layers(model))
        cases = designed(alone, limit, seed) if given is None else iter(_as_cases(given))
        results = tuple(_check_cases(model, alone, cases, runtimes, expected.get(view.layer.name)))
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
        results,
        view.assumptions,
        _problem(results),
    )


def _as_cases(inputs: Sequence[NDArray[Any]]) -> list[Case]:
    return [Case("given", tuple(inputs), threads) for threads in (1, 2)]


def _problem(results: Sequence[CaseResult]) -> str:
    """Why there is nothing that a layer could pass in."""
    if not results:
        return "there is no case: its inputs have no valid value"
    others = [it for case in results for it in case.comparisons if it.runtime != "kernel"]
    if others and all(it.status is Status.NOT_APPLICABLE for it in others):
        return "nothing to compare with: no other runtime can execute this, and there is no expected output"
    return ""


def _check_cases(
    model: Model, view: LayerView, cases: Iterator[Case], runtimes: Runtimes, expected: Any
) -> Iterator[CaseResult]:
    """Each case on each runtime, all of which work at the same time."""
    missing = {runtime.name: lacking(runtime.name, runtime.version, view) for runtime in runtimes}
    asked = [runtime for runtime in runtimes if not missing[runtime.name]]
    with ThreadPoolExecutor(len(runtimes)) as pool:
        for threads, group in groupby(cases, lambda case: case.threads):
            sessions = [_Session(runtime, model, threads) for runtime in asked]
            for case in group:
                inputs = operands(view, case.inputs)
                right = _right(view, inputs)
                seen = pool.map(lambda session, case=case: session.execute(case.inputs), sessions)
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
                yield CaseResult(case.name, tuple(array.shape for array in inputs), threads, tuple(comparisons))
            for session in sessions:
                try:
                    session.end()
                except CrashedError as error:
                    crash = Comparison(session.runtime.name, Status.FAILED, str(error))
                    yield CaseResult("freeing the model", (), threads, (crash,))


def _lacks(runtime: str, known: Divergence) -> Comparison:
    return Comparison(runtime, Status.NOT_APPLICABLE, divergences=(known.name,))


def _right(view: LayerView, inputs: Sequence[NDArray[Any]]) -> Outcome:
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
        self._is_active = False

    def execute(self, inputs: Sequence[NDArray[Any]]) -> Seen:
        """One case. After a crash the model is loaded again."""
        if self._refusal:
            return Seen(self._refusal)
        try:
            if not self._is_active:
                self._activate()
            return Seen(self.runtime.execute(inputs)[0], self.runtime.seconds)
        except CrashedError as error:
            self._is_active = False
            return Seen(error)
        except (RefusedError, IndexError) as error:
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
