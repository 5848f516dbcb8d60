"""An IR executed as a model: the operands of its gather-family layers, and its outputs with our gathers and with OpenVINO's.

Both runs use the IR as our writer writes it, in separate processes. `accelerate` promises identical bits, so any difference
fails, except behind a layer to whose operands a divergence without a prediction applies, and within a tolerance that users
give for the output by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import OWN_OPERANDS, Case
from ov_gather.crosscheck.inputs.ir import OPEN_DIMENSIONS, generate_inputs
from ov_gather.crosscheck.models.arrays import RUNS, varying
from ov_gather.crosscheck.models.definitions import compare_definitions
from ov_gather.crosscheck.results import Comparison, Definitions, Difference, LayerResult, OutputResult, Status
from ov_gather.crosscheck.tolerances import NO_TOLERANCES, Tolerance, Tolerances
from ov_gather.crosscheck.verdict import deviation_of, difference_beyond, first_difference
from ov_gather.divergences.register import is_predicted
from ov_gather.extension.users import UserExtension
from ov_gather.ir.cuts import with_results
from ov_gather.ir.element_types import I64
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.table import ENDS, RANDOM
from ov_gather.runtimes.base import FAILURES, RefusedError
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import borrowed
from ov_gather.system.traversal import reachable
from ov_gather.system.worker import CrashedError

BATCH = 16
"""Initial number of layers whose operands are computed, and held, at once; multiplied by 4 after each small batch."""
HELD = 1 << 27
"""Maximum bytes of operands held at once, estimated from shapes; a single layer may exceed it."""
_OBSTACLES = (*FAILURES, ValueError, TypeError, OSError, ImportError)

Arrays = Sequence[NDArray[Any]]


def has_several_layers(model: Model) -> bool:
    """Return True if the model executes more than one layer; a model of one gather adds nothing to the check of that layer."""
    return not model.is_fragment and sum(layer.type not in ENDS for _, graph in model.walk() for layer in graph.layers) > 1


class ModelRun:
    """An IR executed as a model on generated inputs. `not_run` is why a part was not executed; "" if everything was."""

    def __init__(
        self,
        model: Model,
        seed: int,
        device: str = CPU,
        extensions: tuple[UserExtension, ...] = (),
        given: Mapping[str, NDArray[Any]] = MappingProxyType({}),
        step: Callable[[str], object] = str,
    ) -> None:
        """Execute the model on the `given` inputs, by name; others are made up.

        `step` is called with each step that concerns the whole model, as text, before it is taken, and with "" after it.
        """
        self.not_run = self._version = ""
        self._step = step
        self._device, self._extensions = device, extensions
        self._model = model
        self._inputs: Arrays = ()
        self._expected: Arrays | None = None
        step("executing the model on OpenVINO")
        is_open = not all(layer.declared_shape and layer.declared_shape.is_static for layer in model.parameters)
        for size in OPEN_DIMENSIONS if is_open else OPEN_DIMENSIONS[:1]:
            refusal = self._execute(seed, given, size, is_open=is_open)
            if refusal is None:
                self.not_run = ""
                break
            sizes = self._sizes() if is_open and self._inputs else ""
            self.not_run = self.not_run or _reason(refusal, sizes)
            if not isinstance(refusal, RefusedError):
                break
        step("")

    def _execute(self, seed: int, given: Mapping[str, NDArray[Any]], size: int, *, is_open: bool) -> Exception | None:
        """Execute the model with this size of open dimensions; return the error if that fails."""
        try:
            self._inputs = generate_inputs(self._model, seed, given, size)
            if is_open:
                self._run("openvino", _closed(self._model, self._inputs))
            self._expected = self._run("openvino", self._model)
        except _OBSTACLES as error:
            return error
        return None

    def _sizes(self) -> str:
        """Return the sizes of inputs with open shapes, which may be why it is refused."""
        shapes = zip(self._model.parameters, self._inputs, strict=True)
        return f" with {', '.join(f'{layer.name} {list(array.shape)}' for layer, array in shapes)} (--input gives others)"

    def own_cases(self, views: Sequence[LayerView]) -> Iterator[list[Case | None]]:
        """Yield batches of cases, one per layer in order, with the operands that each layer has in the model.

        The case is None for a layer in the body of a sub-graph, whose operands are not accessible, and if the model does not
        run.
        """
        start, most = 0, BATCH
        while start < len(views):
            some = views[start : start + _fitting(views[start : start + most])]
            batch = [_operands(view) if view.graph is self._model else [] for view in some]
            self._step(f"computing the operands of layers {start + 1:,} to {start + len(some):,}")
            arrays = self._intermediates([port for ports in batch for port in ports])
            self._step("")
            yield [
                Case(OWN_OPERANDS, tuple(arrays[port] for port in ports), 1) if ports and arrays else None for ports in batch
            ]
            start += len(some)
            if 4 * sum(array.nbytes for array in arrays.values()) < HELD:
                most *= 4

    def outputs(
        self, views: Sequence[LayerView], layers: Sequence[LayerResult], tolerances: Tolerances = NO_TOLERANCES
    ) -> tuple[OutputResult, ...]:
        """Compare the model's outputs with our gathers and with stock OpenVINO's. `layers` are the results of `views`.

        The outputs must have the same bits, but for those with a tolerance by name. Those that differ from run to run, behind a
        random layer, are not compared.
        """
        if self._expected is None:
            return ()
        self._step("executing the model with our gathers")
        changing = self._changing()
        if len(changing) == len(self._expected):
            return ()
        try:
            found: Arrays | Exception = self._run("accelerated", self._model)
        except FAILURES as error:
            found = error
        except (OSError, ImportError) as error:
            self.not_run = str(error)  # the extension is missing
            return ()
        excuses = self._excuses(views, layers)
        compared = []
        for i, (result, right) in enumerate(zip(self._model.results, self._expected, strict=True)):
            if i in changing:
                continue
            name = _name(self._model, result)
            comparison = _compare(right, found, i, excuses.get(result.id), tolerances.of_output(name))
            compared.append(OutputResult(name, str(right.dtype), right.shape, comparison))
        return tuple(compared)

    def _changing(self) -> set[int]:
        """Return the positions of the outputs that a random layer changes from run to run, and say so."""
        random = [layer for _, graph in self._model.walk() for layer in graph.of_type(*RANDOM)]
        if not random:
            return set()
        try:
            with borrowed(["openvino"], self._device, self._extensions) as (runtime,), runtime:
                runtime.activate(self._model)
                found = varying([dict(enumerate(runtime.execute(self._inputs))) for _ in range(RUNS)])
        except FAILURES:  # although it was executed before
            found = set(range(len(self._model.results)))
        if found:
            names = ", ".join(_name(self._model, result) for i, result in enumerate(self._model.results) if i in found)
            self.not_run = f"{random[0]} makes outputs random: {names}"
        return found

    def definitions(self, views: Sequence[LayerView], layers: Sequence[LayerResult]) -> Definitions:
        """Compare what the layers compute by their definitions. `layers` are the results of `views`."""
        if self._expected is None:
            return Definitions()
        self._step("comparing other layers with their definitions")
        departing = [view.layer.id for view, layer in zip(views, layers, strict=True) if _own_divergences(layer)]
        execute = partial(self._run, "openvino")
        try:
            return compare_definitions(self._model, self._inputs, self._expected, self._version, execute, departing)
        except _OBSTACLES as error:
            return Definitions(not_compared=_reason(error))

    def _run(self, runtime: str, model: Model) -> Arrays:
        with borrowed([runtime], self._device, self._extensions) as (borrowed_runtime,), borrowed_runtime:
            self._version = borrowed_runtime.version
            borrowed_runtime.activate(model)
            return borrowed_runtime.execute(self._inputs)

    def _intermediates(self, ports: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], NDArray[Any]]:
        """Compute the values of ports, given as (layer id, port id), by adding Results to the model."""
        if self._expected is None or not ports:
            return {}
        inputs = zip(self._model.parameters, self._inputs, strict=True)
        given = {(layer.id, port.id): array for layer, array in inputs for port in layer.outputs}
        wanted = [port for port in dict.fromkeys(ports) if port not in given]
        if not wanted:
            return given
        try:
            outputs = self._run("openvino", with_results(self._model, wanted))
        except _OBSTACLES as error:
            self.not_run = f"to capture operands: {_reason(error)}"
            return {}
        return given | dict(zip(wanted, outputs[len(self._expected) :], strict=True))

    def _excuses(self, views: Sequence[LayerView], layers: Sequence[LayerResult]) -> Mapping[int, tuple[str, ...]]:
        """Map the layers that depend on an unpredicted divergence, seen on a layer's own operands, to its names."""
        found: dict[int, tuple[str, ...]] = {}
        for view, layer in zip(views, layers, strict=True):
            names = _own_divergences(layer)
            if names and not is_predicted(names):
                found |= {i: (*found.get(i, ()), *names) for i in _behind(self._model, view.layer.id)}
        return found


def _own_divergences(layer: LayerResult) -> tuple[str, ...]:
    """Return the names of the divergences that OpenVINO shows on a layer's own operands."""
    own = [comparison for case in layer.cases if case.name == OWN_OPERANDS for comparison in case.comparisons]
    return tuple(name for comparison in own if comparison.runtime == "openvino" for name in comparison.divergences)


def _reason(error: Exception, sizes: str = "") -> str:
    if isinstance(error, RefusedError):
        return f"OpenVINO refuses it{sizes}: {error}"
    return f"OpenVINO {error}" if isinstance(error, CrashedError) else str(error)


def _closed(model: Model, inputs: Arrays) -> Model:
    """Return the model with the shapes of these inputs declared, so that OpenVINO refuses inputs that do not fit together.

    With open shapes, OpenVINO's MatMul would read beyond its operands instead.
    """
    arrays = iter(inputs)
    closed = {layer.id: PartialShape.of(next(arrays).shape).attribute() for layer in model.parameters}
    layers = (
        replace(layer, attributes={**layer.attributes, "shape": closed[layer.id]}) if layer.id in closed else layer
        for layer in model.layers
    )
    return replace(model, layers=tuple(layers))


def _fitting(views: Sequence[LayerView]) -> int:
    """Return how many of the first layers have operands that fit into HELD bytes, at least 1. Open sizes count as 1."""
    total = 0
    for number, view in enumerate(views):
        for element_type, shape in zip(view.input_types, view.input_shapes, strict=True):
            total += (element_type or I64).byte_size(element_count(shape.sizes))
        if total > HELD and number:
            return number
    return len(views)


def _operands(view: LayerView) -> list[tuple[int, int]]:
    """Return the ports that feed the layer's non-constant inputs; none if an input is not connected."""
    sources = [view.producer(position) for position in range(len(view.layer.inputs))]
    if not all(sources):
        return []
    return [(source[0].id, source[1].id) for source in sources if source and source[0].type != "Const"]


def output_names(model: Model) -> list[str]:
    """Return the names of the outputs, in order."""
    return [_name(model, result) for result in model.results]


def _name(model: Model, result: Layer) -> str:
    """Return the name of an output: the first name of its tensor, or else the name of the Result."""
    source = model.producer(result, result.inputs[0])
    names = source[1].attributes.get("names", "") if source else ""
    return names.partition(",")[0] or result.name


def _behind(model: Model, layer: int) -> set[int]:
    """Return the ids of all layers that depend on this one."""
    followers: dict[int, list[int]] = {}
    for edge in model.edges:
        followers.setdefault(edge.from_layer, []).append(edge.to_layer)
    return set(reachable(followers.get(layer, ()), lambda follower: followers.get(follower, ())))


def _compare(
    expected: NDArray[Any],
    found: Arrays | Exception,
    position: int,
    excuses: tuple[str, ...] | None,
    tolerance: Tolerance | None,
) -> Comparison:
    if isinstance(found, Exception):
        text = str(found) if isinstance(found, CrashedError) else f"refuses: {found}"
        status = Status.EXPECTED if excuses else Status.FAILED
        return Comparison("accelerated", status, text, excuses or ())
    off = deviation_of(expected, found[position])
    if off and tolerance and tolerance.concerns(expected.dtype, exact=True):
        difference = difference_beyond(tolerance, expected, found[position])
        near = f"within {tolerance}" if off.differing else ""
    else:
        difference, near, tolerance = first_difference(expected, found[position]), "", None
    where = difference if isinstance(difference, Difference) else None
    status = Status.PASSED if not difference else Status.EXPECTED if excuses else Status.FAILED
    names = excuses or () if difference else ()
    return Comparison("accelerated", status, str(difference) or near, names, where, deviation=off, tolerance=tolerance)
