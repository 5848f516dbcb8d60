"""An ONNX model and the IR that it became, on one choice of inputs after the other, until one tells whether they do the same.

Made-up inputs may be such that they tell nothing: onnxruntime, or OpenVINO alone, refuses sizes that the model was not made
for, or a picture is so small that rounding decides what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.inputs.onnx import Inputs
from ov_gather.crosscheck.models import intermediates as capture
from ov_gather.crosscheck.models.dependents import dependents, random_nodes
from ov_gather.crosscheck.models.outputs import ROUNDING, compare_outputs, excuse_rounding, near_ties
from ov_gather.crosscheck.results import OutputResult
from ov_gather.ir.reader import read_ir
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.base import CrashedError, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed

Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """Inputs that onnxruntime accepts, and its outputs; the outputs compared, or the problem that the other runtime has with
    the result; the problems that it had with other inputs."""

    inputs: Inputs
    expected: Arrays
    outputs: tuple[OutputResult, ...] = ()
    problem: str = ""
    is_conclusive: bool = True
    notes: tuple[str, ...] = ()


class Trial:
    """`refusals`: what onnxruntime said of the inputs that it did not accept."""

    def __init__(self, model: onnx_ir.Model, ir_path: Path, origin: IsolatedRuntime[Any], target: IsolatedRuntime[Any]) -> None:
        self.refusals: list[str] = []
        self._model, self._origin, self._target = model, origin, target
        self._ir_path = ir_path.resolve()
        self._converted = read_ir(ir_path)

    def run(self, choices: Iterable[Inputs]) -> Attempt | None:
        """The first attempt that is conclusive; or else the first that has outputs, or any; None where onnxruntime accepts no
        inputs. Raises ValueError where the IR has others; RefusedError, CrashedError where onnxruntime does not load the model,
        or does not give what is in it."""
        attempts: list[Attempt] = []
        for inputs, expected in self._accepted(choices):
            attempts.append(self._attempt(inputs, expected))
            if attempts[-1].is_conclusive:
                break
        best = min(attempts, key=lambda it: (not it.is_conclusive, bool(it.problem)), default=None)
        notes = tuple(f"for inputs of {_shapes(it.inputs)}: {it.problem}" for it in attempts if it.problem and it is not best)
        return best and replace(best, notes=notes)

    def _accepted(self, choices: Iterable[Inputs]) -> Iterator[tuple[Inputs, Arrays]]:
        """Those that onnxruntime executes, with its outputs. It is not occupied while one of them is used."""
        remaining = iter(choices)
        while True:
            try:
                with capture.activated(self._model, self._origin):
                    inputs, expected = self._next_accepted(remaining)
            except CrashedError as error:  # it is not to be asked again
                self.refusals.append(str(error))
                return
            if expected is None:
                return
            yield inputs, expected

    def _next_accepted(self, choices: Iterator[Inputs]) -> tuple[Inputs, Arrays | None]:
        for inputs in choices:
            try:
                return inputs, self._origin.execute(list(inputs.values()))
            except RefusedError as error:
                self.refusals.append(f"inputs of {_shapes(inputs)}: {error}" if inputs else str(error))
        return {}, None

    def _attempt(self, inputs: Inputs, expected: Arrays) -> Attempt:
        found = self._target.run(self._ir_path, self._in_order(inputs))
        if isinstance(found, Exception):
            problem = f"{self._target.name} does not execute the result: {found}"
            return Attempt(inputs, expected, problem=problem, is_conclusive=not isinstance(found, RefusedError))
        outputs = compare_outputs(self._model, expected, found, self._target.name)
        if not all(it.comparison.passed for it in outputs):
            outputs = self._excused(inputs, expected, found)
        return Attempt(
            inputs, expected, outputs, is_conclusive=not any(ROUNDING in it.comparison.divergences for it in outputs)
        )

    def _excused(self, inputs: Inputs, expected: Arrays, found: Arrays) -> tuple[OutputResult, ...]:
        """The outputs, where the model does not say what they are, or rounding decides."""
        random = dependents(self._model, random_nodes(self._model))
        excuses = (
            ("random-values", "it depends on", random),
            ("near-ties", "it depends on near ties in", near_ties(self._model, inputs, self._origin)),
        )
        outputs = compare_outputs(self._model, expected, found, self._target.name, excuses)
        if all(it.comparison.passed for it in outputs):
            return outputs
        with borrowed(["plain onnxruntime"]) as (plain,):
            try:
                return excuse_rounding(outputs, expected, capture.run(self._model, inputs, plain), found)
            except (RefusedError, CrashedError):  # it may lack a kernel for what is in its place otherwise
                return outputs

    def to_blame(self, attempt: Attempt) -> tuple[str, ...]:
        """The stock gathers of the IR, if its outputs are right with ours in their place."""
        gathers = [it.layer for it in family_layers(self._converted) if it.operation.custom_attributes is not None]
        if not gathers:
            return ()
        try:
            with borrowed(["extension"]) as (extension,):
                found = extension.run(self._converted, self._in_order(attempt.inputs))
        except (ImportError, FileNotFoundError):  # the conversion for stock operations needs no extension
            return ()
        if isinstance(found, Exception):
            return ()
        outputs = self._excused(attempt.inputs, attempt.expected, found)
        is_right = all(it.comparison.passed for it in outputs)
        return tuple(f"{layer.type} '{layer.name}'" for layer in gathers) if is_right else ()

    def _in_order(self, inputs: Inputs) -> list[NDArray[Any]]:
        """The inputs as the Parameters of the IR stand. Raises ValueError where these bear other names."""
        names = [layer.name for layer in self._converted.of_type("Parameter")]
        if not set(names) <= set(inputs):
            raise ValueError(f"{self._ir_path}: its inputs are {', '.join(names)}; those of the original {', '.join(inputs)}")
        return [inputs[name] for name in names]


def _shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name} {list(array.shape)}" for name, array in inputs.items())
