"""An IR as a side of a bisection, executed by OpenVINO, and the body of its If, Loop or TensorIterator as a separate model."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Value, ValueGraph, ir_graph
from ov_gather.crosscheck.bisect.sides import (
    ITERATION,
    Array,
    Arrays,
    Joined,
    ObservedBody,
    Origin,
    Part,
    Replacement,
    Side,
    Sliced,
    SliceOrigin,
)
from ov_gather.ir.bodies import BODIES, Entry, Slicing, carried, entries
from ov_gather.ir.constants import constant, payloads
from ov_gather.ir.cuts import NewInput, part_of, with_results
from ov_gather.ir.element_types import ElementType, by_dtype
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.states import stored_values, without_variables
from ov_gather.ir.writer import write_ir
from ov_gather.runtimes.configured import ConfiguredModel, Setting
from ov_gather.runtimes.isolated import borrowed


class IRSide(Side):
    """An IR on OpenVINO, with arrays by the names of its Parameters."""

    def __init__(self, model: Model, inputs: Arrays, setting: Setting, graph: ValueGraph | None = None) -> None:
        """`graph` is that of the model, if it is known already."""
        stored = list(stored_values(model).values())
        self._model, self._setting = with_results(model, stored), setting  # wrong states show in later inferences
        self.graph = graph if graph is not None and not stored else ir_graph(self._model)
        parameters = {layer.name: layer for layer in model.of_type("Parameter")}
        self._inputs = {name: _as(array, parameters[name].declared_type) for name, array in inputs.items()}
        self.title = f"{setting.runtime} on {setting.device} in {setting.precision}"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Return some values, by adding Results to the model."""
        self.runs += 1
        outputs = list(dict.fromkeys(self._results()))
        new = [value for value in dict.fromkeys(values) if value not in outputs and isinstance(value, tuple)]
        found = _run(
            ConfiguredModel(with_results(self._model, new), self._setting), list(self._inputs.values()), 1 if plain else 0
        )
        return dict(zip([*self._results(), *new], found, strict=True))

    def executes_the_same_as(self, other: Side) -> bool:
        """Return True if OpenVINO gets the same model, inputs and setting from both sides."""
        if not isinstance(other, IRSide) or self._setting != other._setting or self._model != other._model:
            return False
        names = self._inputs.keys()
        are_same = names == other._inputs.keys() and all(self._inputs[name] is other._inputs[name] for name in names)
        return are_same and all(map(operator.eq, payloads(self._model), payloads(other._model)))

    def _results(self) -> list[Value]:
        sources = {layer.id: (source.id, port.id) for layer, _, source, port in self._model.links if layer.type == "Result"}
        return [sources[layer.id] for layer in self._model.layers if layer.type == "Result"]

    def part(self, inputs: Mapping[Value, Replacement], outputs: Mapping[Value, str]) -> Part | None:
        """Extract layers. New Parameters have static shapes, and the element types of the ports."""
        new = {}
        for value, given in inputs.items():
            layer = self._model.layer_by_id[value[0]]  # type: ignore[index]
            element_type = next(port.element_type for port in layer.outputs if port.id == value[1])
            if element_type is None:
                return None
            new[value] = NewInput(given.name, element_type, given.array.shape)
        return IRPart(without_variables(part_of(self._model, new, outputs)), self._setting)  # type: ignore[arg-type]

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Return the value of a Const."""
        layer = self._model.layer_by_id[value[0]]  # type: ignore[index]
        try:
            return constant(self._model, layer) if layer.type == "Const" else None
        except IRError:
            return None

    def body(self, value: Value, array: Array) -> ObservedBody | None:
        """Return the body of an If, a Loop or a TensorIterator."""
        return _body_of(self._model, self._model.layer_by_id[value[0]], array)  # type: ignore[index]

    def inside(self, body: ObservedBody) -> IRSide:
        """Return the side of a body."""
        return IRSide(body.model, body.inputs, self._setting)

    def computed_from(self, given: Mapping[Value, Replacement], output: Value) -> NDArray[Any] | None:
        """Execute the model with inputs in place of the given values."""
        side: IRSide | None = self
        for value, each in given.items():
            side = None if side is None else side.patched(value, each)
        return None if side is None else side.observe([])[output]

    def patched(self, value: Value, given: Replacement) -> IRSide | None:
        """Return the side with an input in place of a value; None if that is impossible."""
        names = {source: self.graph.label(source) for source in self._results() if source != value}
        part = self.part({value: given}, names)
        if not isinstance(part, IRPart):
            return None
        by_name = {**self._inputs, given.name: given.array}
        inputs = {layer.name: by_name[layer.name] for layer in part.model.of_type("Parameter")}
        return IRSide(part.model, inputs, self._setting)

    def _given(self) -> Mapping[Value, NDArray[Any]]:
        return {value: self._inputs[name] for name, value in self.graph.inputs.items()}

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        assert isinstance(part, IRPart)
        return [self._inputs[layer.name] for layer in part.model.of_type("Parameter")]


class IRPart(Part):
    """A part of an IR."""

    def __init__(self, model: Model, setting: Setting) -> None:
        self.model, self._setting = model, setting

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the part with inputs in the order of its Parameters."""
        parameters = self.model.of_type("Parameter")
        arrays = [_as(array, layer.declared_type) for array, layer in zip(inputs, parameters, strict=True)]
        return _run(ConfiguredModel(self.model, self._setting), arrays, 0)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the .xml, and the .bin beside it."""
        path = folder / f"{stem}.xml"
        write_ir(self.model, path)
        return path


def _run(model: ConfiguredModel, inputs: Sequence[NDArray[Any]], threads: int) -> list[NDArray[Any]]:
    with borrowed(["configured"], extensions=model.setting.extensions) as (runtime,), runtime:
        runtime.activate(model, threads)
        return runtime.execute(inputs)


def _as(array: NDArray[Any], element_type: ElementType | None) -> NDArray[Any]:
    """Convert an array to the type of a Parameter, except strings."""
    if element_type is None or by_dtype(array.dtype) is element_type or array.dtype.kind in "OUT":
        return array
    return np.asarray(array).astype(element_type.dtype)


def _body_of(model: Model, layer: Layer, array: Array) -> ObservedBody | None:
    """Extract the body of a layer; None for other layers, and if an input is unknown."""
    outside = {port.id: (source[0].id, source[1].id) for port in layer.inputs if (source := model.producer(layer, port))}
    first = array(outside[layer.inputs[0].id]) if layer.type in ("If", "Loop") else None
    if layer.type not in BODIES or (layer.type == "If" and first is None):
        return None
    tag = "body" if layer.type != "If" else "then_body" if _first(first) else "else_body"
    body = next(body for body in layer.bodies if body.tag == tag)
    inputs: dict[str, NDArray[Any]] = {}
    origins: dict[str, Origin] = {}
    sliced: dict[str, Sliced] = {}
    mapped = list(entries(layer, body))
    for entry in mapped:
        inner = entry.inner
        if not entry.is_input or inner is None:
            continue
        if entry.purpose == "current_iteration":
            inputs[inner.name], origins[inner.name] = np.zeros(inner.outputs[0].dims, np.int64), ITERATION
            continue
        given, slicing = outside.get(entry.port.id) if entry.port else None, entry.slicing
        found = None if given is None else array(given)
        if given is None or found is None:
            return None
        if slicing:
            pieces = _sliced(found, slicing)
            if pieces is None or not pieces.count:
                return None
            found, sliced[inner.name] = pieces[0], pieces
        inputs[inner.name], origins[inner.name] = found, SliceOrigin(given) if slicing else given
    if len(inputs) < len(body.of_type("Parameter")):
        return None
    whole = replace(body, tag="net", name=layer.name, version=model.version, weights=model.weights, path=model.path)
    ordered = list(ir_graph(whole).inputs)
    counts = [pieces.count for pieces in sliced.values()]
    if layer.type == "Loop":
        counts.append(_first(first) if first is not None and _first(first) >= 0 else sys.maxsize)
    conditions = [entry.value for entry in mapped if entry.purpose == "execution_condition"]
    outputs: dict[Value, Entry] = {(layer.id, entry.port.id): entry for entry in mapped if entry.port and not entry.is_input}
    return ObservedBody(
        whole,
        {name: inputs[name] for name in ordered},
        origins,
        min(counts, default=1),
        0,
        sliced,
        {body.layer_by_id[i].name: value for i, value in carried(layer, body).items()},
        conditions[0] if conditions else None,
        {value: entry.value for value, entry in outputs.items() if entry.value},
        {value: Joined(way.axis, False, way.stride < 0) for value, entry in outputs.items() if (way := entry.slicing)},
    )


def _first(array: NDArray[Any] | None) -> int:
    assert array is not None
    return int(array.reshape(-1)[0])


def _sliced(array: NDArray[Any], slicing: Slicing) -> Sliced | None:
    """Return the slices of an array; None if they overlap, or leave gaps."""
    length, start, end = array.shape[slicing.axis], slicing.start, slicing.end
    forward = slicing.stride > 0 and start == 0 and end in (-1, length)
    backward = slicing.stride < 0 and start in (-1, length - 1) and end in (0, -length - 1)
    if abs(slicing.stride) != slicing.part_size or not (forward or backward):
        return None
    return Sliced(array, slicing.axis, slicing.part_size, backward)
