"""An IR as a model: what its gather-family layers are given in it, and its outputs with our gathers beside stock OpenVINO's.

Both execute what our writer writes, in processes of their own. `accelerate` promises the same bits, so the outputs must be the
same. Outputs may differ only behind a layer of which nobody knows what OpenVINO makes of the operands that it has in the model
(a divergence that predicts nothing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.cases.designed import OWN_OPERANDS, Case
from ov_gather.crosscheck.comparisons import Comparison, Difference, LayerResult, OutputResult, Status
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.verdict import first_difference
from ov_gather.divergences.register import is_predicted
from ov_gather.ir.cuts import with_results
from ov_gather.ir.element_types import I64
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops.layer_view import LayerView
from ov_gather.runtimes.base import NESTED_IFS, CrashedError, RefusedError
from ov_gather.runtimes.devices import CPU
from ov_gather.runtimes.isolated import borrowed

BATCH = 16
"""The number of layers whose operands are computed, and held, at first; four times as many after each that were small."""
HELD = 1 << 27
"""The bytes that operands held at once may have, as far as shapes tell; but one layer may have more."""
_ENDS = ("Parameter", "Const", "Result")
_RANDOM = ("RandomUniform", "Multinomial")
_OBSTACLES = (RefusedError, CrashedError, IndexError, ValueError, TypeError, OSError, ImportError)

Arrays = Sequence[NDArray[Any]]


def has_several_layers(model: Model) -> bool:
    """Tell whether more than one layer is to be executed: a model of one gather tells nothing that the gather alone does
    not.
    """
    return not model.is_fragment and sum(layer.type not in _ENDS for _, graph in model.walk() for layer in graph.layers) > 1


class ModelRun:
    """An IR that is executed as a model on generated inputs. `not_run` says what could not be done; "" as long as all could."""

    def __init__(self, model: Model, seed: int, device: str = CPU) -> None:
        self.not_run = too_nested(model)
        self._device = device
        self._model = model
        self._inputs: Arrays = ()
        self._expected: Arrays | None = None
        if self.not_run:
            return
        try:
            self._inputs = generate_inputs(model, seed)
            if not all(layer.declared_shape and layer.declared_shape.is_static for layer in model.of_type("Parameter")):
                self._run("openvino", _closed(model, self._inputs))
            self._expected = self._run("openvino", model)
        except _OBSTACLES as error:
            self.not_run = _reason(error)

    def own_cases(self, views: Sequence[LayerView]) -> Iterator[list[Case | None]]:
        """Yield for some layers after others the cases with the operands that they have in the model.

        There is None for a layer in the body of a sub-graph, whose operands cannot be had, and where the model cannot be run.
        """
        start, most = 0, BATCH
        while start < len(views):
            some = views[start : start + _fitting(views[start : start + most])]
            batch = [_operands(view) if view.graph is self._model else [] for view in some]
            arrays = self._intermediates([port for ports in batch for port in ports])
            yield [
                Case(OWN_OPERANDS, tuple(arrays[port] for port in ports), 1) if ports and arrays else None for ports in batch
            ]
            start += len(some)
            if 4 * sum(array.nbytes for array in arrays.values()) < HELD:
                most *= 4

    def outputs(self, views: Sequence[LayerView], layers: Sequence[LayerResult]) -> tuple[OutputResult, ...]:
        """Compare the outputs with our gathers with those of stock OpenVINO. `layers` is what came out for these views."""
        if self._expected is None:
            return ()
        if random := [layer for _, graph in self._model.walk() for layer in graph.of_type(*_RANDOM)]:
            self.not_run = f"{random[0]} makes its outputs random"
            return ()
        try:
            found: Arrays | Exception = self._run("accelerated", self._model)
        except (RefusedError, CrashedError, IndexError) as error:
            found = error
        except (OSError, ImportError) as error:
            self.not_run = str(error)  # there is no extension
            return ()
        excuses = self._excuses(views, layers)
        return tuple(
            OutputResult(
                _name(self._model, result), str(right.dtype), right.shape, _compare(right, found, i, excuses.get(result.id))
            )
            for i, (result, right) in enumerate(zip(_results(self._model), self._expected, strict=True))
        )

    def _run(self, runtime: str, model: Model) -> Arrays:
        with borrowed([runtime], self._device) as (borrowed_runtime,):
            outputs = borrowed_runtime.run(model, self._inputs)
        if isinstance(outputs, Exception):
            raise outputs
        return outputs

    def _intermediates(self, ports: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], NDArray[Any]]:
        """Compute what comes out of some ports, each named by the ids of its layer and of itself, by adding Results to them."""
        if self._expected is None or not ports:
            return {}
        inputs = zip(self._model.of_type("Parameter"), self._inputs, strict=True)
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
        """Map the id of each layer behind one with divergences that predict nothing on its own operands to their names."""
        found: dict[int, tuple[str, ...]] = {}
        for view, layer in zip(views, layers, strict=True):
            own = [comparison for case in layer.cases if case.name == OWN_OPERANDS for comparison in case.comparisons]
            names = tuple(name for comparison in own if comparison.runtime == "openvino" for name in comparison.divergences)
            if names and not is_predicted(names):
                found |= {i: (*found.get(i, ()), *names) for i in _behind(self._model, view.layer.id)}
        return found


def too_nested(model: Model) -> str:
    """Return why OpenVINO would take too long to compile a model, because of Ifs that are nested; "" if it would not."""
    depth = max(sum(part.startswith("If '") for part in path) for path, _ in model.walk())
    return f"{depth} If are nested, and OpenVINO takes twice as long to compile for each more" if depth > NESTED_IFS else ""


def _reason(error: Exception) -> str:
    if isinstance(error, RefusedError):
        return f"OpenVINO refuses it: {error}"
    return f"OpenVINO {error}" if isinstance(error, CrashedError) else str(error)


def _closed(model: Model, inputs: Arrays) -> Model:
    """Declare the shapes of these inputs in the model. OpenVINO then refuses it where they do not fit together.

    While shapes are open, its MatMul reads beyond its operands instead.
    """
    arrays = iter(inputs)
    closed = {layer.id: PartialShape.of(next(arrays).shape).attribute() for layer in model.of_type("Parameter")}
    layers = (
        replace(layer, attributes={**layer.attributes, "shape": closed[layer.id]}) if layer.id in closed else layer
        for layer in model.layers
    )
    return replace(model, layers=tuple(layers))


def _fitting(views: Sequence[LayerView]) -> int:
    """Count the layers whose operands are held at once. Sizes that are open count as 1."""
    total = 0
    for number, view in enumerate(views):
        for element_type, shape in zip(view.input_types, view.input_shapes, strict=True):
            total += (element_type or I64).byte_size(element_count(shape.sizes))
        if total > HELD and number:
            return number
    return len(views)


def _operands(view: LayerView) -> list[tuple[int, int]]:
    """Name the ports that feed the inputs that are not constant; none where nothing feeds an input."""
    sources = [view.producer(position) for position in range(len(view.layer.inputs))]
    if not all(sources):
        return []
    return [(source[0].id, source[1].id) for source in sources if source and source[0].type != "Const"]


def _results(model: Model) -> list[Layer]:
    return [layer for layer in model.layers if layer.type == "Result"]


def _name(model: Model, result: Layer) -> str:
    """Name an output as users do: by the first name of its tensor, or else by the name of its layer."""
    source = model.producer(result, result.inputs[0])
    names = source[1].attributes.get("names", "") if source else ""
    return names.partition(",")[0] or result.name


def _behind(model: Model, layer: int) -> set[int]:
    """Collect the ids of all layers that depend on one."""
    followers: dict[int, list[int]] = {}
    for edge in model.edges:
        followers.setdefault(edge.from_layer, []).append(edge.to_layer)
    seen: set[int] = set()
    waiting = [layer]
    while waiting:
        new = set(followers.get(waiting.pop(), ())) - seen
        seen |= new
        waiting += new
    return seen


def _compare(expected: NDArray[Any], found: Arrays | Exception, position: int, excuses: tuple[str, ...] | None) -> Comparison:
    if isinstance(found, Exception):
        difference: Difference | str = str(found) if isinstance(found, CrashedError) else f"refuses: {found}"
    else:
        difference = first_difference(expected, found[position])
    where = difference if isinstance(difference, Difference) else None
    if difference and excuses:
        return Comparison("accelerated", Status.EXPECTED, str(difference), excuses, where)
    return Comparison("accelerated", Status.FAILED if difference else Status.PASSED, str(difference), (), where)
