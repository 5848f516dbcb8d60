"""Execution of an ONNX model and its conversion on successive choices of inputs, until one is conclusive.

Generated inputs may be inconclusive: onnxruntime or OpenVINO refuses their sizes, or rounding decides the outputs of a small
image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx_ir
from numpy.typing import NDArray

from ov_gather.converters.lane_types import as_lanes, from_lanes
from ov_gather.crosscheck.inputs.onnx import Inputs
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.nondeterminism import permitted_orders, random_values
from ov_gather.crosscheck.models.outputs import (
    ROUNDING,
    compare_outputs,
    excuse_narrowing,
    excuse_rounding,
    narrowed,
    near_ties,
    scores,
)
from ov_gather.crosscheck.models.quantisation import (
    excuse_quantisation,
    say_saturated,
    with_exact_products,
    without_quantisation,
)
from ov_gather.crosscheck.results import OutputResult
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Tolerances
from ov_gather.ir.cuts import with_results
from ov_gather.ir.reader import read_ir
from ov_gather.ops.layer_view import family_layers
from ov_gather.runtimes.base import OnnxFile, RefusedError
from ov_gather.runtimes.isolated import IsolatedRuntime, borrowed
from ov_gather.system.worker import CrashedError

Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One choice of inputs that onnxruntime accepts, and the result for it.

    Attributes:
        expected: the outputs of onnxruntime.
        outputs: the outputs of the converted model, compared with these.
        problem: why the converted model was not executed; "" if it was.
        is_conclusive: whether the result shows if the two models are equivalent.
        notes: problems of the converted model with other inputs.
    """

    inputs: Inputs
    expected: Arrays
    outputs: tuple[OutputResult, ...] = ()
    problem: str = ""
    is_conclusive: bool = True
    notes: tuple[str, ...] = ()


class ConversionTrial:
    """A model and its conversion on their runtimes. `refusals` are the messages of onnxruntime for inputs that it refused.

    `original` is the file of the model, which onnxruntime reads itself. `lanes` maps each input and output of the IR that is in
    lanes to the original's name and the type of its numbers. `step` is called with each step before it is taken.
    """

    def __init__(
        self,
        model: onnx_ir.Model,
        original: OnnxFile,
        ir_path: Path,
        origin: IsolatedRuntime[Any],
        target: IsolatedRuntime[Any],
        lanes: Mapping[str, tuple[str, str]],
        tolerances: Tolerances = NO_TOLERANCES,
        step: Callable[[str], object] = str,
    ) -> None:
        self.refusals: list[str] = []
        self._model, self._original, self._origin, self._target = model, original, origin, target
        self._step = step
        self._ir_path, self._lanes, self._tolerances = ir_path.resolve(), lanes, tolerances
        self._converted = read_ir(ir_path)

    def run(self, choices: Iterable[Inputs]) -> Attempt | None:
        """Try inputs until an attempt is conclusive; return that, or else the first with outputs, or else the first.

        Return None if onnxruntime accepts no inputs.

        Raises:
            ValueError: the inputs of the IR differ from those of the model.
            RefusedError, CrashedError: onnxruntime cannot load the model, or does not compute its intermediate values.
        """
        attempts: list[Attempt] = []
        for inputs, expected in self._accepted(choices):
            attempts.append(self._attempt(inputs, expected))
            if attempts[-1].is_conclusive:
                break
        best = min(attempts, key=lambda attempt: (not attempt.is_conclusive, bool(attempt.problem)), default=None)
        others = [attempt for attempt in attempts if attempt.problem and attempt is not best]
        notes = tuple(f"for inputs of {_shapes(attempt.inputs)}: {attempt.problem}" for attempt in others)
        return best and replace(best, notes=notes)

    def _accepted(self, choices: Iterable[Inputs]) -> Iterator[tuple[Inputs, Arrays]]:
        """Yield the inputs that onnxruntime accepts, with its outputs. The runtime is released before each yield."""
        remaining = iter(choices)
        while True:
            try:
                self._step(f"executing the original on {self._origin.name}")
                with intermediates.activated(self._model, self._origin, self._original):
                    inputs, expected = self._next_accepted(remaining)
            except CrashedError as error:  # other inputs may crash it again
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
        self._step(f"executing the result on {self._target.name}")
        found = self._target.run(self._ir_path, self._in_order(inputs))
        if isinstance(found, Exception):
            problem = f"{self._target.name} does not execute the result: {found}"
            return Attempt(inputs, expected, problem=problem, is_conclusive=not isinstance(found, RefusedError))
        numbers = self._numbers(found)
        outputs = compare_outputs(self._model, expected, numbers, self._target.name, tolerances=self._tolerances)
        if not _all_passed(outputs):
            self._step("explaining differences")
            outputs = self._excused(inputs, expected, numbers)
        is_conclusive = not any(ROUNDING in output.comparison.divergences for output in outputs)
        return Attempt(inputs, expected, outputs, is_conclusive=is_conclusive)

    def target_refuses(self, inputs: Inputs) -> bool:
        """Return True if the converted model refuses these inputs, too."""
        return isinstance(self._target.run(self._ir_path, self._in_order(inputs)), RefusedError)

    def _excused(self, inputs: Inputs, expected: Arrays, found: Arrays) -> tuple[OutputResult, ...]:
        """Compare the outputs again, with exact products of bytes; excuse what the two models may compute differently.

        That is random numbers, near ties, permitted orders of TopK, and rounding in onnxruntime and in quantisations.
        """
        exact_model = with_exact_products(self._model)
        if exact_model is None:
            return self._excused_beside(self._model, inputs, expected, found)
        exact = intermediates.run(exact_model, inputs, self._origin)
        return say_saturated(self._excused_beside(exact_model, inputs, exact, found), expected, exact)

    def _excused_beside(
        self, model: onnx_ir.Model, inputs: Inputs, expected: Arrays, found: Arrays
    ) -> tuple[OutputResult, ...]:
        original = self._original if model is self._model else None
        picks = [node for node, _ in scores(model)]
        converted = self._converted_values(inputs, [value for node in picks for value in (node.inputs[0], *node.outputs)])
        near = near_ties(model, inputs, self._origin, converted)
        other = permitted_orders(model, inputs, self._origin, converted)
        excuses = (
            ("random-values", "it depends on", random_values(model, inputs, self._origin)),
            ("near-ties", "it depends on near ties in", near),
            ("order-left-open", "it depends on the order that is left open in", other),
        )
        outputs = compare_outputs(model, expected, found, self._target.name, excuses, self._tolerances)
        if not _all_passed(outputs) and (narrow := narrowed(inputs)):
            outputs = excuse_narrowing(outputs, intermediates.run(model, narrow, self._origin, original), found)
        if _all_passed(outputs):
            return outputs
        with borrowed(["plain onnxruntime"]) as (plain,):
            try:
                floats = without_quantisation(model)
                in_floats = None if floats is None else intermediates.run(floats, inputs, plain)
                outputs = excuse_quantisation(model, outputs, expected, in_floats, found)
                return excuse_rounding(outputs, expected, intermediates.run(model, inputs, plain, original), found)
            except (RefusedError, CrashedError):  # without optimisation, a kernel may be missing
                return outputs

    def _converted_values(self, inputs: Inputs, values: Sequence[onnx_ir.Value | None]) -> dict[str, NDArray[Any]]:
        """Return the conversion's counterparts of the values that kept their names; nothing if it refuses."""
        named = {name: (layer.id, port.id) for layer, port in self._converted.ports() for name in port.names}
        wanted = {name: named[name] for value in values if value is not None and (name := str(value.name)) in named}
        found = self._target.run(with_results(self._converted, list(wanted.values())), self._in_order(inputs))
        return {} if isinstance(found, Exception) else dict(zip(wanted, found[len(found) - len(wanted) :], strict=True))

    def blamed_gathers(self, attempt: Attempt) -> tuple[str, ...]:
        """Return the stock gathers of the IR if its outputs are right with ours in their place; else nothing."""
        views = family_layers(self._converted)
        gathers = [view.layer for view in views if view.custom_version]
        if not gathers:
            return ()
        try:
            with borrowed(["extension"], extensions=self._target.extensions) as (extension,):
                found = extension.run(self._converted, self._in_order(attempt.inputs))
        except (ImportError, FileNotFoundError):  # the extension is optional for stock conversions
            return ()
        if isinstance(found, Exception):
            return ()
        outputs = self._excused(attempt.inputs, attempt.expected, self._numbers(found))
        return tuple(f"{layer.type} '{layer.name}'" for layer in gathers) if _all_passed(outputs) else ()

    def _in_order(self, inputs: Inputs) -> list[NDArray[Any]]:
        """Return the inputs in the order of the IR's Parameters. Raises ValueError if the names differ."""
        names = [layer.name for layer in self._converted.parameters]
        in_lanes = {name: as_lanes(inputs[given]) for name, (given, _) in self._lanes.items() if given in inputs}
        known = {**inputs, **in_lanes}
        if not set(names) <= set(known):
            raise ValueError(f"{self._ir_path}: its inputs are {', '.join(names)}; those of the original {', '.join(inputs)}")
        return [known[name] for name in names]

    def _numbers(self, outputs: Arrays) -> Arrays:
        """Return the outputs, with lanes joined to numbers."""
        types, values = dict(self._lanes.values()), zip(self._model.graph.outputs, outputs, strict=False)
        named = [(str(value.name), array) for value, array in values]
        return [from_lanes(array, types[name]) if name in types else array for name, array in named]


def _all_passed(outputs: Sequence[OutputResult]) -> bool:
    return all(output.comparison.passed for output in outputs)


def _shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name} {list(array.shape)}" for name, array in inputs.items())
