"""An IR as a side of a bisection, executed by OpenVINO, and the body of its If, Loop or TensorIterator as a separate model."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import Extracted, ObservedBody
from ov_gather.crosscheck.bisect.graphs import ValueGraph, ir_graph
from ov_gather.crosscheck.bisect.sides import Arrays, Part, Replacement, Side
from ov_gather.graph.protocol import Body, Key, Node
from ov_gather.ir.constants import payloads
from ov_gather.ir.cuts import NewInput, part_of, with_results
from ov_gather.ir.element_types import ElementType, by_dtype
from ov_gather.ir.model import Model, ValueId
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
        parameters = {layer.name: layer for layer in model.parameters}
        self._inputs = {name: _as(array, parameters[name].declared_type) for name, array in inputs.items()}
        self.title = f"{setting.runtime} on {setting.device} in {setting.precision}"

    def observe(self, values: Sequence[Key], *, plain: bool = False) -> dict[Key, NDArray[Any]]:
        """Return some values, by adding Results to the model."""
        self.runs += 1
        results = self._results()
        new = list(dict.fromkeys(value for value in values if value not in results))
        model = ConfiguredModel(with_results(self._model, list(map(_port, new))), self._setting)
        found = _run(model, list(self._inputs.values()), 1 if plain else 0)
        return dict(zip([*results, *new], found, strict=True))

    def repeated(self, times: int) -> list[dict[Key, NDArray[Any]]]:
        """Return the outputs of several inferences of one compiled model."""
        with borrowed(["configured"], extensions=self._setting.extensions) as (runtime,), runtime:
            runtime.activate(ConfiguredModel(self._model, self._setting))
            given = list(self._inputs.values())
            return [dict(zip(self._results(), runtime.execute(given), strict=True)) for _ in range(times)]

    def executes_the_same_as(self, other: Side) -> bool:
        """Return True if OpenVINO gets the same model, inputs and setting from both sides."""
        if not isinstance(other, IRSide) or self._setting != other._setting or self._model != other._model:
            return False
        names = self._inputs.keys()
        are_same = names == other._inputs.keys() and all(self._inputs[name] is other._inputs[name] for name in names)
        return are_same and all(map(operator.eq, payloads(self._model), payloads(other._model)))

    def _results(self) -> list[Key]:
        """Return the values of the outputs, once for each Result."""
        return [(0, source.id, port.id) for layer, _, source, port in self._model.links if layer.type == "Result"]

    def part(self, inputs: Mapping[Key, Replacement], outputs: Mapping[Key, str]) -> Part | None:
        """Extract layers. New Parameters have static shapes, and the element types of the ports."""
        new = {}
        for value, given in inputs.items():
            layer, port = _port(value)
            element_type = next(one.element_type for one in self._model.layer_by_id[layer].outputs if one.id == port)
            if element_type is None:
                return None
            new[layer, port] = NewInput(given.name, element_type, given.array.shape)
        names = {_port(value): name for value, name in outputs.items()}
        return IRPart(without_variables(part_of(self._model, new, names)), self._setting)

    def _extract(self, node: Node, body: Body, given: Mapping[Key, NDArray[Any]]) -> Extracted:
        layer, model = node.handle, self._model
        inner = next(inner for each, inner in zip(node.bodies, layer.bodies, strict=True) if each is body)
        whole = replace(inner, tag="net", name=layer.name, version=model.version, weights=model.weights, path=model.path)
        names: dict[Key, str] = {(body.id, one.id, one.outputs[0].id): one.name for one in inner.parameters}
        return Extracted(whole, names, lambda key: (0, *_port(key)))

    def inside(self, body: ObservedBody) -> IRSide:
        """Return the side of a body."""
        return IRSide(body.model, body.inputs, self._setting)

    def computed_from(self, given: Mapping[Key, Replacement], output: Key) -> NDArray[Any] | None:
        """Execute the model with inputs in place of the given values."""
        side: IRSide | None = self
        for value, each in given.items():
            side = None if side is None else side.patched(value, each)
        return None if side is None else side.observe([])[output]

    def patched(self, value: Key, given: Replacement) -> IRSide | None:
        """Return the side with an input in place of a value; None if that is impossible."""
        names = {source: self.graph.label(source) for source in self._results() if source != value}
        part = self.part({value: given}, names)
        if not isinstance(part, IRPart):
            return None
        by_name = {**self._inputs, given.name: given.array}
        inputs = {layer.name: by_name[layer.name] for layer in part.model.parameters}
        return IRSide(part.model, inputs, self._setting)

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        assert isinstance(part, IRPart)
        return [self._inputs[layer.name] for layer in part.model.parameters]


class IRPart(Part):
    """A part of an IR."""

    def __init__(self, model: Model, setting: Setting) -> None:
        self.model, self._setting = model, setting

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the part with inputs in the order of its Parameters."""
        parameters = self.model.parameters
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


def _port(key: Key) -> ValueId:
    assert isinstance(key, tuple)
    return key[1], key[2]
