"""Run ONNX's backend tests on stock OpenVINO and ours: each Nth with `--every N`; `--verbose` lists all that do not pass.

ONNX's own runner (`onnx.backend.test`) creates models and inputs, and compares outputs with the expected ones, within the
tolerance of each test, or a millionth of the largest number. Tests of random numbers, which ONNX does not define, are left out.
Stock OpenVINO reads a model from a path and, if that fails, from its bytes. Each test runs in a worker process, so that a crash
is an outcome. Fails if `compile_onnx` is wrong without a LossyConversionWarning, crashes, or refuses what OpenVINO passes.
"""

from __future__ import annotations

import sys
import tempfile
import unittest
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from helpers.worker_process import call_each
from ov_gather.ops.table import ONNX, OpKind, where

KINDS = {"Node": "node", "Simple": "simple", "PyTorchConverted": "pytorch-converted", "PyTorchOperator": "pytorch-operator"}
OUTCOMES = ("passed", "warned", "refused", "wrong", "crash")
"""Outcomes from best to worst. A wrong result with a warning is "warned"."""
COLUMNS = ("kind", "tests", "through", *OUTCOMES)
RANDOM = where(ONNX, lambda op: op.kind is OpKind.RANDOM)
Outcome = tuple[str, str]  # the name, one of OUTCOMES, and the reason
Run = Callable[[Sequence[Any]], Sequence[Any]]


class Result(NamedTuple):
    kind: str
    name: str
    stock: Outcome
    ours: Outcome

    @property
    def is_bad(self) -> bool:
        """Return True if ours crashes, is wrong in silence, or refuses what stock OpenVINO passes."""
        return self.ours[0] in ("crash", "wrong") or (self.stock[0] == "passed" and self.ours[0] == "refused")


class RefusedError(Exception):
    """A runtime refused to compile or execute a model."""


def prepare_stock(model: onnx.ModelProto, by_path: bool) -> Run:
    import openvino

    from ov_gather.runtimes.session import Session

    core, names = openvino.Core(), inputs_of(model)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model.onnx")
        onnx.save(model, path)
        read = core.read_model(path if by_path else path.read_bytes())
        session = Session(core, read)

    def run(inputs: Sequence[Any]) -> Sequence[Any]:
        arrays = []
        for position, port in enumerate(read.inputs):  # by name, or by position if the front end renames inputs
            given = (array for name, array in zip(names, inputs, strict=True) if name in port.get_names())
            arrays.append(np.asarray(next(given, inputs[position])))
        return session(arrays)

    return run


def prepare_ours(model: onnx.ModelProto) -> Run:
    from ov_gather.converters import compile_onnx

    compiled, names = compile_onnx(model), inputs_of(model)

    def run(inputs: Sequence[Any]) -> Sequence[Any]:
        outputs = compiled({name: np.asarray(array) for name, array in zip(names, inputs, strict=True)})
        return [outputs[value.name] for value in model.graph.output]

    return run


def inputs_of(model: onnx.ModelProto) -> list[str]:
    initialized = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in initialized]


PREPARE: Mapping[str, Callable[[onnx.ModelProto], Run]] = {
    "stock by path": lambda model: prepare_stock(model, by_path=True),
    "stock by bytes": lambda model: prepare_stock(model, by_path=False),
    "ours": prepare_ours,
}


class Backend:
    """A backend for ONNX's runner."""

    def __init__(self, prepare: Callable[[onnx.ModelProto], Run]) -> None:
        self._prepare = _refusing(prepare)

    def supports_device(self, device: str) -> bool:
        return device == "CPU"

    def prepare(self, model: onnx.ModelProto, device: str) -> Prepared:
        return Prepared(_refusing(self._prepare(model)))


class Prepared(NamedTuple):
    run: Run


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to raise RefusedError, as opposed to errors of the comparison."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:  # a test that should pass must show any error
            raise RefusedError(f"{type(error).__name__}: {error}") from error

    return call


@cache
def tests(runtime: str) -> Mapping[tuple[str, str], Callable[[], None]]:
    """Return ONNX's tests by kind and name, as functions that raise if the runtime fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the generators of some operators divide by zero on purpose
        from onnx.backend.test import BackendTest
        from onnx.backend.test.case.node import collect_testcases

        class Runner(BackendTest):  # type: ignore[misc, no-any-unimported]
            @classmethod
            def assert_similar_outputs(cls, ref_outputs: Any, outputs: Any, rtol: float, atol: float, **more: Any) -> None:
                numbers = [abs(one) for one in ref_outputs if isinstance(one, np.ndarray) and one.dtype.kind == "f"]
                largest = max((float(np.max(one, where=np.isfinite(one), initial=0)) for one in numbers), default=0.0)
                super().assert_similar_outputs(ref_outputs, outputs, rtol, max(atol, 1e-6 * largest), **more)

        runner = Runner(Backend(PREPARE[runtime]), __name__)
        random = {
            case.name for case in collect_testcases(None) if any(node.op_type in RANDOM for node in case.model.graph.node)
        }
    found = {}
    for category, kind in KINDS.items():
        suite = runner.test_cases[f"OnnxBackend{category}ModelTest"]
        for name in unittest.defaultTestLoader.getTestCaseNames(suite):
            if name.endswith("_cpu") and name.removesuffix("_cpu") not in random:
                found[kind, name.removesuffix("_cpu")] = getattr(suite(name), name)
    return found


def outcome(test: tuple[str, str, str]) -> Outcome:
    """Return the outcome of a test, given as kind, name and runtime."""
    from ov_gather.converters import LossyConversionWarning

    *name, runtime = test
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tests(runtime)[tuple(name)]()
        except RefusedError as error:
            return "refused", str(error)
        except (AssertionError, AttributeError, TypeError) as error:  # a sequence compared with a tensor has no shape
            reason = " ".join(str(error).split())[:300]
        else:
            return "passed", ""
    losses = [str(warning.message) for warning in caught if issubclass(warning.category, LossyConversionWarning)]
    return ("warned", f"{losses[0]} ({reason})") if losses else ("wrong", reason)


def run(every: int) -> list[Result]:
    names = sorted(tests("ours"))[::every]
    for runtime in PREPARE:
        tests(runtime)  # before the fork: this process has all models, but no thread of OpenVINO
    with ThreadPoolExecutor(2) as pool:
        ours = pool.submit(_outcomes, names, "ours")
        stock = pool.submit(_outcomes, names, "stock by path").result()
        again = [name for name in names if stock[name][0] != "passed"]
        for name, second in pool.submit(_outcomes, again, "stock by bytes").result().items():
            stock[name] = min(stock[name], second, key=lambda candidate: OUTCOMES.index(candidate[0]))
    return [Result(*name, stock[name], ours.result()[name]) for name in names]


def _outcomes(names: Sequence[tuple[str, str]], runtime: str) -> dict[tuple[str, str], Outcome]:
    found = call_each(outcome, [(*name, runtime) for name in names], lambda code: ("crash", f"exit code {code}"), "fork")
    return dict(zip(names, found, strict=True))


def measure(*, every: int = 1, verbose: bool = False) -> Iterator[tuple[str, ...] | str]:
    results = run(every)
    for kind in (*KINDS.values(), "all"):
        mine = [result for result in results if kind in (result.kind, "all")]
        for name, found in (
            ("stock OpenVINO", [result.stock for result in mine]),
            ("compile_onnx", [result.ours for result in mine]),
        ):
            counts = Counter(outcome for outcome, _ in found)
            yield kind, str(len(mine)), name, *(str(counts[outcome] or "") for outcome in OUTCOMES)
    yield from (str(result) for result in results if result.is_bad or (verbose and result.ours[0] != "passed"))
    if bad := sum(result.is_bad for result in results):
        sys.exit(f"wrong in silence, crashed, or refused although stock OpenVINO passes: {bad}")
