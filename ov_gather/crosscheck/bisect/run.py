"""The function `bisect`: the first node at which two models differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ov_gather.crosscheck.bisect.blame import Blame
from ov_gather.crosscheck.bisect.body_trace import BodyIteration
from ov_gather.crosscheck.bisect.comparer import Comparer
from ov_gather.crosscheck.bisect.correspondence import correspond, pair_outputs
from ov_gather.crosscheck.bisect.inputs import Reference, Sides, choices, load_arrays, read_reference
from ov_gather.crosscheck.bisect.results import BisectResult, ComparedOutput, Culprit
from ov_gather.crosscheck.bisect.rounding import Rounding
from ov_gather.crosscheck.bisect.search import CutObservation, Search, first_refused, sizes_of
from ov_gather.crosscheck.bisect.sides import ArraysSide, Replacement, Side
from ov_gather.crosscheck.defaults import DEFAULT_SEED
from ov_gather.crosscheck.deviation import Deviation
from ov_gather.crosscheck.inputs.onnx import NoInputsError
from ov_gather.crosscheck.models.arrays import RUNS, varying
from ov_gather.crosscheck.results import Environment
from ov_gather.crosscheck.tolerances import Bound, Tolerances
from ov_gather.extension.users import Given, loaded
from ov_gather.graph.protocol import Key, Node
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, WeightsSource, path_of, read_ir
from ov_gather.ir.states import stored_values
from ov_gather.runtimes.base import FAILURES
from ov_gather.runtimes.configured import Setting
from ov_gather.runtimes.isolated import borrowed

MEMORY = 1 << 30
"""Default for the maximum bytes of values observed per execution."""

Progress = Callable[[str], None]


def bisect(
    reference: Reference,
    model: Source | Model,
    inputs: Mapping[str, ArrayLike] | None = None,
    *,
    weights: WeightsSource = None,
    runtime: str = "openvino",
    device: str = "CPU",
    precision: str = "f32",
    memory: int = MEMORY,
    every: bool = False,
    reproducers: Path | None = None,
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
    atol: Bound = None,
    rtol: Bound = None,
    extensions: Iterable[Given] = (),
) -> BisectResult:
    """Find the first node at which a model differs from its reference.

    Args:
        reference: an ONNX model (executed by onnxruntime), as path of an .onnx, bytes, or `onnx.ModelProto`; an IR (executed by
            OpenVINO in f32), as for `model`; a path of a .npz; or arrays by the names of outputs and of inner values.
        model: an IR, as `read_ir` accepts it, or a `Model`.
        weights: path or bytes of the .bin of `model`, if it is not beside the .xml.
        inputs: arrays by input name; if not given, from the .npz, or generated.
        runtime: the runtime of the model: "openvino", "extension" or "accelerated".
        device, precision: the device, and the INFERENCE_PRECISION_HINT.
        memory: the maximum bytes of values observed per execution.
        every: find all culprits: after each, the model continues with the value of the reference.
        reproducers: the parent directory of reproducers, the smallest models that show each culprit.
        seed: for generated inputs.
        progress: called with a description of each step.
        atol, rtol: permitted differences, instead of what rounding explains: up to atol + rtol * abs(expected). A number is for
            all floating-point values; a mapping has bounds by the name of an output, with "" for all other values.
        extensions: libraries, "module:Class" or classes of `openvino.Op` with operations of yours that an IR uses.

    Returns:
        A result with `.node`, `.passed`, `.table()`, `.culprits` and `.reproducer`.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: a file is not a model; inputs or outputs of the models differ; the inputs do not fit; a tolerance is given
            for no output; an extension cannot be loaded.
        ImportError: onnxruntime, or the extension, is not installed.
    """
    if not isinstance(model, Model):
        model = read_ir(model, weights)
    setting, tolerances = Setting(runtime, device, precision, loaded(extensions)), Tolerances.of(atol, rtol)
    return _Bisection(reference, model, inputs, setting, memory, seed, reproducers, progress, tolerances).run(every)


def _random_outputs(side: Side) -> dict[Key, Node]:
    """Map the outputs that depend on a random node, and differ from run to run, to the first such node."""
    behind = {value: side.graph.random[value] for value in side.graph.outputs.values() if value in side.graph.random}
    try:
        changing = varying(side.repeated(RUNS)) if behind else ()
    except FAILURES:  # the comparison of the outputs reports it
        return {}
    return {value: node for value, node in behind.items() if value in changing}


class _Bisection:
    """One call of `bisect`."""

    def __init__(
        self,
        reference: Reference,
        model: Model,
        inputs: Mapping[str, ArrayLike] | None,
        setting: Setting,
        memory: int,
        seed: int,
        directory: Path | None,
        progress: Progress | None,
        tolerances: Tolerances,
    ) -> None:
        self._reference = read_reference(reference)
        self._model = model
        self._given = None if inputs is None else {name: np.asarray(array) for name, array in inputs.items()}
        self._setting, self._memory, self._seed, self._directory = setting, memory, seed, directory
        self._progress = progress or (lambda text: None)
        self._tolerances = tolerances
        path = reference.path if isinstance(reference, Model) else path_of(reference)
        name = "arrays" if isinstance(reference, Mapping) else path or "the reference"
        self._result = BisectResult(name, self._model.path or "the model", seed=None if inputs is not None else seed)

    def run(self, every: bool) -> BisectResult:
        is_onnx = not isinstance(self._reference, Model | Mapping)
        with borrowed(["configured", "onnxruntime"] if is_onnx else ["configured"]) as runtimes:
            known = Environment.of(runtimes)
        versions = {"openvino": known.versions["configured"], **{k: v for k, v in known.versions.items() if k != "configured"}}
        self._result = replace(self._result, environment=replace(known, versions=versions))
        try:
            sides, refusal = self._sides()
        except NoInputsError as error:
            return self._not_run(f"{error}: give --input")
        graph = sides.model.graph
        shapes = {name: f"{array.dtype}{list(array.shape)}" for name, array in sides.arrays.items()}
        self._result = replace(self._result, nodes=len(graph.nodes), input_shapes=shapes, setting=sides.model.title)
        outputs = pair_outputs(sides.reference.graph, graph, only_named=isinstance(sides.reference, ArraysSide))
        label = graph.label
        self._tolerances.check_names([label(ours) for ours in outputs])
        named = {value: self._tolerances.of_output(label(value)) for value in outputs}
        self._named = {value: tolerance for value, tolerance in named.items() if tolerance and tolerance.is_named}
        self._outputs = self._without_random(sides, outputs)
        if not self._outputs:
            return self._not_run("every output is random")
        if stored_values(self._model):
            self._note("the model has states: they are as at the first inference, and the values stored in them are compared")
        if refusal is not None:
            return self._refused_by_reference(sides, refusal)
        return self._compared(sides, every)

    def _sides(self) -> tuple[Sides, Exception | None]:
        """Return sides with inputs that the reference accepts; if it refuses given inputs, return its error, too."""
        sides, refusal = None, None
        for sides in choices(self._reference, self._model, self._given, self._setting, self._seed):
            self._progress("executing the reference")
            try:
                sides.reference.outputs = sides.reference.observe([])
            except FAILURES as error:
                refusal = error
                continue
            return sides, None
        if sides is None or (self._given is None and not isinstance(self._reference, Mapping)):
            raise NoInputsError(f"the reference accepts none of the inputs that were made up ({refusal})")
        return sides, refusal

    def _without_random(self, sides: Sides, outputs: Mapping[Key, Key]) -> dict[Key, Key]:
        """Return the outputs of the model, with those of the reference, that are the same in each run of either."""
        ours, theirs = _random_outputs(sides.model), _random_outputs(sides.reference)
        kept = {}
        for value, other in outputs.items():
            if node := ours.get(value) or theirs.get(other):
                self._note(f"output '{sides.model.graph.label(value)}' is not compared: {node} makes it random")
            else:
                kept[value] = other
        return kept

    def _refused_by_reference(self, sides: Sides, refusal: Exception) -> BisectResult:
        if "NOT_IMPLEMENTED" in str(refusal):  # independent of the inputs
            return self._not_run(f"the reference cannot be executed: {refusal}")
        self._progress("executing the model, as the reference refuses these inputs")
        try:
            sides.model.observe([])
        except FAILURES as error:
            return self._not_run(f"both refuse these inputs: the reference: {refusal}; the model: {error}")
        blame = self._blame(sides, self._outputs)
        found = first_refused(sides.reference, refusal)
        return replace(self._result, culprits=(blame.for_refusal(found, is_reference=True),), runs=sides.model.runs)

    def _compared(self, sides: Sides, every: bool) -> BisectResult:
        blame = self._blame(sides, self._outputs)
        comparer = blame.comparer
        if sides.model.executes_the_same_as(sides.reference):  # half of the time, as compiling takes most of it
            sides.model.outputs = sides.reference.outputs
            self._note("the models are identical: executed once")
        self._progress("comparing the outputs")
        try:
            different = comparer.compare_outputs()
        except FAILURES as error:
            found = first_refused(sides.model, error)
            culprit = blame.for_refusal(found, is_reference=False)
            return replace(self._result, culprits=(culprit,), runs=sides.model.runs)
        label = sides.model.graph.label
        measured = {value: comparer.record(value).deviation for value in different}
        wrong = [value for value, text in different.items() if text]
        culprits, excuses = self._culprits(sides, blame, wrong, every)
        different |= comparer.noisy_outputs
        excuses |= dict.fromkeys(
            comparer.noisy_outputs, "the reference differs as much from itself on one thread and without optimisation"
        )
        is_open = bool(blame.open_orders)
        outputs = tuple(
            self._output(label(value), str(text), excuses.get(value, ""), measured[value], is_open=is_open)
            for value, text in different.items()
        )
        return replace(self._result, culprits=tuple(culprits), outputs=outputs)

    def _output(self, name: str, outcome: str, excuse: str, off: Deviation | None, *, is_open: bool) -> ComparedOutput:
        """Return an output. What rounding explains is no excuse beyond a given tolerance, an order left open (`is_open`) is."""
        tolerance = self._tolerances.of_output(name)
        if excuse and tolerance and not is_open:
            outcome, excuse = f"{outcome}; {excuse}", ""
        return ComparedOutput(name, outcome, excuse, off, tolerance)

    def _culprits(self, sides: Sides, blame: Blame, wrong: list[Key], every: bool) -> tuple[list[Culprit], dict[Key, str]]:
        """Trace wrong outputs to their culprits: the first one only, or every one."""
        culprits: list[Culprit] = []
        excuses: dict[Key, str] = {}
        while wrong:
            output = wrong[0]
            try:
                culprit, excuse, value = blame.for_output(output)
            except FAILURES as error:
                self._note(f"the model cannot be observed: {error}")
                break
            if not culprits:
                self._result = replace(self._result, runs=sides.model.runs)
            if culprit is None:
                excuses[output] = excuse
                wrong = wrong[1:]
                continue
            culprits.append(culprit)
            if not every:
                break
            going_on = self._going_on(sides, blame, value)
            if going_on is None:
                break
            sides, blame = going_on
            wrong = [value for value, text in blame.comparer.compare_outputs().items() if text and value not in excuses]
        return culprits, excuses

    def _going_on(self, sides: Sides, blame: Blame, value: Key) -> tuple[Sides, Blame] | None:
        """Return the sides with the reference's value in place of the differing one; None if that fails, or nothing is left."""
        self._outputs.pop(value, None)
        if not self._outputs:
            return None
        array = blame.comparer.values_of_reference([value])[value]
        patched = sides.model.patched(value, Replacement(f"{sides.model.graph.label(value)} (reference)", array))
        if patched is None:
            return None
        sides = replace(sides, model=patched)
        return sides, self._blame(sides, self._outputs)

    def _blame(self, sides: Sides, outputs: Mapping[Key, Key], rounding: Rounding | None = None) -> Blame:
        graph, other = sides.model.graph, sides.reference.graph
        pairs = correspond(other, graph, sides.inputs, outputs)
        named = self._named if rounding is None else {}
        rounding = rounding or Rounding(self._setting.precision, tolerance=self._tolerances.of_all)
        comparer = Comparer(sides.reference, sides.model, pairs, dict(outputs), rounding, named)
        comparable = frozenset(
            ours
            for ours, theirs in pairs.reference.items()
            if ours in graph.producers and ours not in graph.random and theirs not in other.random
        )
        sizes = sizes_of(graph)

        def observe(values: Sequence[Key], wrong: Key) -> CutObservation:
            self._progress(f"run {sides.model.runs + 1}: {search.left} values may be the first; observing {len(values)}")
            return comparer.observe(values, wrong)

        search = Search(graph, comparable, lambda value: 2 * sizes.get(value, 4), observe, self._memory)
        return Blame(comparer, search, self._setting, self._directory, self._is_shown, self._of_body)

    def _of_body(self, inner: BodyIteration, rounding: Rounding) -> Iterator[Culprit]:
        """Yield the culprits of two bodies. Raises RefusedError, CrashedError, IndexError."""
        blame = self._blame(inner.sides, inner.outputs, rounding)
        wrong = [output for output, text in blame.comparer.compare_outputs().items() if text]
        return (culprit for output in wrong if (culprit := blame.for_output(output)[0]))

    def _is_shown(self, reference: Path, model: Path, inputs: Path | None) -> bool:
        """Return True if the written models differ: execute them as the reproducer's command does."""
        given, setting = None if inputs is None else load_arrays(inputs), self._setting
        runtime, device, precision = setting.runtime, setting.device, setting.precision
        try:
            result = bisect(
                reference,
                model,
                given,
                runtime=runtime,
                device=device,
                precision=precision,
                atol=self._tolerances.atol.get(""),
                rtol=self._tolerances.rtol.get(""),
                extensions=setting.extensions,
            )
        except ValueError:  # their inputs or outputs do not fit
            return False
        return not result.passed and not result.not_run

    def _note(self, text: str) -> None:
        self._result = replace(self._result, notes=(*self._result.notes, text))

    def _not_run(self, reason: str) -> BisectResult:
        return replace(self._result, not_run=reason)
