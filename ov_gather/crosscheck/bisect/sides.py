"""The two sides of a bisection. A side executes its model, or a part of it, and tells the values that it is asked for.

Everything is executed in worker processes: a runtime that crashes is an observation like any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Graph, Value, arrays_graph, ir_graph, onnx_graph
from ov_gather.crosscheck.models import intermediates
from ov_gather.ir.constants import constant
from ov_gather.ir.cuts import NewInput, part_of, with_results
from ov_gather.ir.element_types import by_dtype
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Model
from ov_gather.ir.writer import write_ir
from ov_gather.runtimes.base import RefusedError
from ov_gather.runtimes.configured import Configured, Setting
from ov_gather.runtimes.isolated import borrowed

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Given:
    """A Given is the array that takes the place of a value, and the name of the input that it becomes."""

    name: str
    array: NDArray[Any]


class Part(ABC):
    """A Part is a piece of a model that is a model of its own."""

    @abstractmethod
    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute it. Raises RefusedError, CrashedError, IndexError."""

    @abstractmethod
    def write(self, folder: Path, stem: str) -> Path:
        """Write it to a folder, and give the path. Raises OSError."""


class Side(ABC):
    """A Side is a model on a runtime, with inputs."""

    graph: Graph
    title: str
    runs: int = 0

    @abstractmethod
    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Compute some values, and the outputs; if `plain`, on one thread and without optimisation.

        Raises RefusedError, CrashedError, IndexError.
        """

    @abstractmethod
    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Cut out what computes some values from others; None where that cannot be done."""

    @abstractmethod
    def constant(self, value: Value) -> NDArray[Any] | None:
        """Read a value that the model states; None for others, and where it cannot be read."""

    def prefix(self, values: Sequence[Value]) -> list[NDArray[Any]]:
        """Execute no more than what some values depend on. Raises RefusedError, CrashedError, IndexError."""
        part = self.part({}, {value: self.graph.label(value) for value in values})
        assert part is not None
        self.runs += 1
        return part.run(self._inputs_of(part))

    @abstractmethod
    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        """Select the inputs that a part without inputs of its own has left."""


class IRSide(Side):
    """An IR on OpenVINO, with arrays by the names of its Parameters."""

    def __init__(self, model: Model, inputs: Arrays, setting: Setting) -> None:
        self.graph, self._model, self._setting = ir_graph(model), model, setting
        self._inputs = [_as_declared(array, model, self.graph.inputs[name]) for name, array in inputs.items()]
        self.title = f"OpenVINO {setting.runtime} {setting.device} {setting.precision}"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Compute some values by adding Results to them."""
        self.runs += 1
        outputs = [value for value in dict.fromkeys(self._results())]
        new = [value for value in dict.fromkeys(values) if value not in outputs and isinstance(value, tuple)]
        found = _run(Configured(with_results(self._model, new), self._setting), self._inputs, 1 if plain else 0)
        return dict(zip([*self._results(), *new], found, strict=True))

    def _results(self) -> list[Value]:
        sources = {layer.id: (source.id, port.id) for layer, _, source, port in self._model.links if layer.type == "Result"}
        return [sources[layer.id] for layer in self._model.layers if layer.type == "Result"]

    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Cut out layers. Parameters are static, and of the element types that the ports have."""
        new = {}
        for value, given in inputs.items():
            element_type = self._port_type(value)
            if element_type is None:
                return None
            new[value] = NewInput(given.name, element_type, given.array.shape)
        return IRPart(part_of(self._model, new, outputs), self._setting)  # type: ignore[arg-type]

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Read the value of a Const."""
        layer = self._model.layer_by_id[value[0]]  # type: ignore[index]
        try:
            return constant(self._model, layer) if layer.type == "Const" else None
        except IRError:
            return None

    def patched(self, value: Value, given: Given) -> IRSide | None:
        """Give the side of the same model in which an input takes the place of a value; None where that cannot be done."""
        names = {source: self.graph.label(source) for source in self._results() if source != value}
        part = self.part({value: given}, names)
        if not isinstance(part, IRPart):
            return None
        by_name = dict(zip((layer.name for layer in self._model.of_type("Parameter")), self._inputs, strict=True))
        by_name[given.name] = given.array
        inputs = {layer.name: by_name[layer.name] for layer in part.model.of_type("Parameter")}
        return IRSide(part.model, inputs, self._setting)

    def _port_type(self, value: Value) -> Any:
        layer = self._model.layer_by_id[value[0]]  # type: ignore[index]
        return next(port.element_type for port in layer.outputs if port.id == value[1])

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        assert isinstance(part, IRPart)
        by_name = dict(zip((layer.name for layer in self._model.of_type("Parameter")), self._inputs, strict=True))
        return [by_name[layer.name] for layer in part.model.of_type("Parameter")]


class IRPart(Part):
    """A piece of an IR."""

    def __init__(self, model: Model, setting: Setting) -> None:
        self.model, self._setting = model, setting

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute it with inputs in the order of its Parameters."""
        parameters = self.model.of_type("Parameter")
        arrays = [_as(array, layer.declared_type) for array, layer in zip(inputs, parameters, strict=True)]
        return _run(Configured(self.model, self._setting), arrays, 0)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the .xml, and the .bin beside it."""
        path = folder / f"{stem}.xml"
        write_ir(self.model, path)
        return path


class OnnxSide(Side):
    """An ONNX model on onnxruntime, with arrays by the names of its inputs."""

    def __init__(self, model: onnx_ir.Model, inputs: Arrays) -> None:
        self.graph, self._model, self._inputs = onnx_graph(model), model, dict(inputs)
        self.title = "onnxruntime CPU"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Compute some values by making outputs of them."""
        self.runs += 1
        by_name = {str(value.name): value for value in _values(self._model.graph)}
        wanted = [
            str(value) for value in dict.fromkeys([*self.graph.outputs.values(), *values]) if value not in self.graph.inputs
        ]
        outputs = list(self._model.graph.outputs)
        self._model.graph.outputs[:] = [by_name[name] for name in wanted]
        try:
            with borrowed(["plain onnxruntime" if plain else "onnxruntime"]) as (runtime,):
                found = intermediates.run(self._model, self._inputs, runtime)
        finally:
            self._model.graph.outputs[:] = outputs
        given = {name: self._inputs[name] for name in self.graph.inputs}
        return {**dict(zip(wanted, found, strict=True)), **given}

    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Cut out nodes. None where the inputs do not bound them."""
        names = [str(name) for name in inputs]
        try:
            graph = onnx_ir.convenience.extract(
                self._model.graph, [*names, *(name for name in self.graph.inputs if name not in names)], list(map(str, outputs))
            )
        except ValueError:
            return None
        for value in list(graph.inputs):
            if value.name not in names and not value.uses() and not value.is_graph_output():
                graph.inputs.remove(value)
        for value in graph.inputs:
            if value.name in inputs:
                array = inputs[str(value.name)].array
                value.shape = onnx_ir.Shape(array.shape)
                if value.dtype is None:
                    value.dtype = onnx_ir.DataType.from_numpy(array.dtype)
        versions = dict(self._model.opset_imports)
        return OnnxPart(onnx_ir.Model(graph, ir_version=self._model.ir_version, functions=()), versions)

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Read an initializer, or what a Constant node states."""
        found = next((each for each in _values(self._model.graph) if each.name == value), None)
        tensor = None if found is None else onnx_ir.convenience.get_const_tensor(found)
        return None if tensor is None or tensor.dtype is onnx_ir.DataType.STRING else tensor.numpy()

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        assert isinstance(part, OnnxPart)
        return [self._inputs[str(value.name)] for value in part.model.graph.inputs]


class OnnxPart(Part):
    """A piece of an ONNX model."""

    def __init__(self, model: onnx_ir.Model, versions: Mapping[str, int]) -> None:
        self.model = model
        model.graph.opset_imports.update(versions)

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute it with inputs in the order of its own."""
        with borrowed(["onnxruntime"]) as (runtime,):
            names = (str(value.name) for value in self.model.graph.inputs)
            return intermediates.run(self.model, dict(zip(names, inputs, strict=True)), runtime)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the .onnx."""
        path = folder / f"{stem}.onnx"
        onnx_ir.save(self.model, path)
        return path


class ArraysSide(Side):
    """Arrays that were computed elsewhere, by the names of the values that they are."""

    def __init__(self, arrays: Arrays, inputs: Arrays) -> None:
        self._arrays = {**arrays, **inputs}
        self.graph, self.title = arrays_graph(self._arrays, inputs.keys()), "arrays"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Select arrays. There is no other way to compute them."""
        if plain:
            raise RefusedError("arrays cannot be computed again")
        return dict(self._arrays.items())

    def part(self, inputs: Mapping[Value, Given], outputs: Mapping[Value, str]) -> Part | None:
        """Arrays have no parts."""
        return None

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Nothing is known to be constant."""
        return None

    def _inputs_of(self, part: Part) -> list[NDArray[Any]]:
        raise AssertionError("arrays have no parts")


def _run(model: Configured, inputs: Sequence[NDArray[Any]], threads: int) -> list[NDArray[Any]]:
    with borrowed(["configured"]) as (runtime,):
        outputs = runtime.run(model, inputs, threads)
    if isinstance(outputs, Exception):
        raise outputs
    return outputs


def _values(graph: onnx_ir.Graph) -> list[onnx_ir.Value]:
    return [*graph.inputs, *graph.initializers.values(), *(value for node in graph for value in node.outputs)]


def _as_declared(array: NDArray[Any], model: Model, value: Value) -> NDArray[Any]:
    return _as(array, model.layer_by_id[value[0]].declared_type)  # type: ignore[index]


def _as(array: NDArray[Any], element_type: Any) -> NDArray[Any]:
    """Convert an array to the type that a Parameter has; strings, and what has its type already, stay as they are."""
    if element_type is None or by_dtype(array.dtype) is element_type or array.dtype.kind in "OUT":
        return array
    return np.asarray(array).astype(element_type.dtype)
