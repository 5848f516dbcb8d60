"""What the layers of an IR compute by their definitions, beside what OpenVINO computes with them.

A layer has a reference if its result is exact, whatever computes it: it moves elements, selects, compares or counts them, or
calculates with integers. The inputs of these layers that come from the model's inputs or from layers without a reference are
taken from OpenVINO as they are. Each result that a layer without a reference or an output reads must be what OpenVINO computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ov_gather.crosscheck.models.arrays import compare_arrays
from ov_gather.crosscheck.results import Comparison, Definitions, OutputResult, Status
from ov_gather.crosscheck.tolerances import Tolerance
from ov_gather.graph.ir import IrGraph
from ov_gather.ir.cuts import NewInput, part_of, with_results
from ov_gather.ir.element_types import BOOLEAN, DYNAMIC, F16, F32, I32, I64, ElementType, by_dtype, by_name
from ov_gather.ir.model import Layer, Model, Port, ValueId
from ov_gather.ir.shapes import element_count
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.spec import CUSTOM_OPSET
from ov_gather.ops.table import ENDS, OPENVINO, OpKind, Trait, where
from ov_gather.plugin.base import Effect
from ov_gather.rules.known_faults import Executed
from ov_gather.rules.releases import RELEASES
from ov_gather.runtimes.isolated import borrowed
from ov_gather.system.traversal import reachable

HELD = 1 << 27
"""Maximum bytes of values that are compared, estimated from shapes with open sizes as 1."""
_MOVES = {OpKind.MOVE, OpKind.GATHER, OpKind.SCATTER, OpKind.SELECTION, OpKind.SHAPE, OpKind.LOGICAL, OpKind.COMPARISON}
_OF_ANY_NUMBERS = where(OPENVINO, lambda op: Trait.UNROUNDED in op.traits)
_OF_INTEGERS = where(
    OPENVINO,
    lambda op: (
        (op.kind in (OpKind.ARITHMETIC, OpKind.BITWISE) and Trait.EXACT in op.traits)
        or op.rule in ("reduce_sum", "reduce_product", "count_up", "running_total")
    ),
)
"""Types of layers that are exact for integers as wide as the plugin has them."""
_TYPES = {F16, F32, by_name("i8"), by_name("u8"), I32, I64, BOOLEAN}
_INTEGERS = {I32, I64, BOOLEAN}
_CASTS = {(source, target) for source in _INTEGERS for target in (*_INTEGERS, F32)} | {(F16, F32)}

Arrays = Sequence[NDArray[Any]]


def compare_definitions(
    model: Model,
    inputs: Arrays,
    expected: Arrays,
    version: str,
    execute: Callable[[Model], Arrays],
    departing: Collection[int],
) -> Definitions:
    """Compare what OpenVINO computes of some inputs with what the layers of the main graph compute by their definitions.

    Args:
        model: the IR.
        inputs: an array per Parameter.
        expected: the outputs of the model as it is.
        version: the version of OpenVINO.
        execute: executes a model on the inputs. Raises what a runtime raises.
        departing: ids of gather-family layers that depart from their definition on their own operands, in a known way.

    Raises what `execute` raises, RefusedError and CrashedError.
    """
    defined = {layer.id for layer in model.layers if layer.id not in departing and _is_defined(layer, _types(model, layer))}
    family = {view.layer.id for view in family_layers(model)}
    others = [layer for layer in model.layers if layer.type not in ENDS and layer.id not in family]
    found = Definitions(
        defined=dict(Counter(layer.type for layer in others if layer.id in defined)),
        undefined=dict(Counter(layer.type for layer in others if layer.id not in defined)),
    )
    ports = dict(_compared(model, defined))
    if not found.defined or not ports:
        return found
    part = _Part(model, defined, ports)
    observed = [*part.taken, *ports]
    arrays = dict(zip(observed, execute(with_results(model, observed))[len(expected) :], strict=True))
    ours = part.evaluated(inputs, arrays)
    outputs = dict(zip(_outputs(model), expected, strict=True))
    values = []
    for value, port in ports.items():
        right = ours[value]
        if right is None:
            continue
        here = outputs[value] if value in outputs and not part.depends_on_taken(value) else arrays[value]
        compared = _compare(right, here)
        if not compared.passed and (names := _faults(model, version, part.before(value))):
            compared = replace(compared, status=Status.EXPECTED, divergences=names)
        values.append(OutputResult(_name(model, value, port), str(right.dtype), right.shape, compared))
    return replace(found, values=tuple(values))


class _Part:
    """The layers with a reference before some values.

    `taken` are the values at their start that OpenVINO computes, but for the inputs of the model.
    """

    def __init__(self, model: Model, defined: Collection[int], values: Iterable[ValueId]) -> None:
        self._model, self._defined, self._values = model, defined, list(values)
        self._sources: dict[int, list[tuple[Layer, Port]]] = {}
        for reader, _, source, port in model.links:
            self._sources.setdefault(reader.id, []).append((source, port))
        needed = self._within(layer for layer, _ in self._values)
        feeding = (source for layer in sorted(needed) for source in self._sources.get(layer, ()))
        self.taken = list(dict.fromkeys((layer.id, port.id) for layer, port in feeding if not self._is_known(layer)))

    def _is_known(self, layer: Layer) -> bool:
        return layer.id in self._defined or layer.type in ENDS

    def _within(self, layers: Iterable[int]) -> set[int]:
        """Return the ids of layers with a reference, from some of them back."""
        return set(
            reachable(layers, lambda at: [layer.id for layer, _ in self._sources.get(at, ()) if layer.id in self._defined])
        )

    def depends_on_taken(self, value: ValueId) -> bool:
        """Return True if a value is computed from what OpenVINO computes without a reference."""
        layers = self._within([value[0]])
        return any(not self._is_known(source) for layer in layers for source, _ in self._sources.get(layer, ()))

    def before(self, value: ValueId) -> set[int]:
        """Return the ids of all layers that a value depends on, and its own."""
        return set(reachable([value[0]], lambda at: [layer.id for layer, _ in self._sources.get(at, ())]))

    def evaluated(self, inputs: Arrays, arrays: Mapping[ValueId, NDArray[Any]]) -> dict[ValueId, NDArray[Any] | None]:
        """Compute the values; None for those that cannot be. Raises RefusedError, CrashedError."""
        parameters = dict(zip((layer.id for layer in self._model.parameters), inputs, strict=True))
        known = {port: arrays[port] for port in self.taken}
        for layer in self._model.parameters:
            known |= {(layer.id, port.id): parameters[layer.id] for port in layer.outputs}
        given = {value: _input(value, array) for value, array in known.items()}
        part = part_of(self._model, given, {value: f"value{number}" for number, value in enumerate(self._values)})
        with borrowed(["evaluated"]) as (runtime,), runtime:
            runtime.activate(part)
            return dict(zip(self._values, runtime.ask("evaluate", list(known.values())), strict=True))


def _input(value: ValueId, array: NDArray[Any]) -> NewInput:
    return NewInput(f"given_{value[0]}_{value[1]}", by_dtype(array.dtype) or DYNAMIC, array.shape)


def _types(model: Model, layer: Layer) -> tuple[list[ElementType | None], list[ElementType | None]]:
    sources = [model.producer(layer, port) for port in layer.inputs]
    return [source[1].element_type if source else None for source in sources], [port.element_type for port in layer.outputs]


def _is_defined(layer: Layer, types: tuple[list[ElementType | None], list[ElementType | None]]) -> bool:
    """Return True if the results of a layer are exact, and OpenVINO's plugin has the types of its operands and results."""
    taken, made = types
    op, all_types = OPENVINO[layer.type], {*taken, *made}
    if layer.type in ENDS or layer.version == CUSTOM_OPSET or not all_types <= _TYPES:
        return False
    if layer.type == "StridedSlice" and _ignores_begin(layer):
        return False
    if op.kind is OpKind.CAST or op.meaning.converts:
        return taken[0] == made[0] or (taken[0], made[0]) in _CASTS
    if op.kind in _MOVES and layer.attributes.get("reduction", "none") == "none":
        return True
    return layer.type in _OF_ANY_NUMBERS or (layer.type in _OF_INTEGERS and all_types <= _INTEGERS)


def _ignores_begin(layer: Layer) -> bool:
    """Return True if a StridedSlice removes an axis whose begin is masked: its specification does not say what it takes."""
    masks = (layer.attributes.get(name, "").split(",") for name in ("begin_mask", "shrink_axis_mask"))
    return any(one.strip() == other.strip() == "1" for one, other in zip(*masks, strict=False))


def _compared(model: Model, defined: Collection[int]) -> Iterator[tuple[ValueId, Port]]:
    """Yield the values that layers without a reference, or outputs, read of layers with one; as many as fit into HELD bytes."""
    total, seen = 0, set[ValueId]()
    for reader, _, layer, port in model.links:
        value = layer.id, port.id
        if layer.id not in defined or reader.id in defined or value in seen:
            continue
        seen.add(value)
        total += (port.element_type or I64).byte_size(element_count(port.shape.sizes))
        if total > HELD:
            return
        yield value, port


def _outputs(model: Model) -> list[ValueId]:
    sources = [model.producer(result, result.inputs[0]) for result in model.results]
    return [(source[0].id, source[1].id) for source in sources if source]


def _name(model: Model, value: ValueId, port: Port) -> str:
    return port.attributes.get("names", "").partition(",")[0] or model.layer_by_id[value[0]].name


def _compare(right: NDArray[Any], found: NDArray[Any]) -> Comparison:
    """Compare numbers: every NaN is equal, and so are 0 and -0."""
    same = compare_arrays(right, found, "openvino", exact=True, tolerance=Tolerance(0, 0, is_named=True))
    return replace(same, tolerance=None, detail="" if same.passed else same.detail)


def _faults(model: Model, version: str, layers: Collection[int]) -> tuple[str, ...]:
    """Return the names of the known faults of a release that some layers meet; if there are none, of those for some values."""
    release = ".".join(version.split(".")[:2])
    executed = Executed(IrGraph(model), release if release in RELEASES else RELEASES[-1], is_named=True)
    met = [fault for fault, node in executed.met if node.handle.id in layers and not node.path]
    certain = [fault for fault in met if fault.effect is not Effect.DEPENDS]
    return tuple(dict.fromkeys(fault.report for fault in certain or met))
