"""An ONNX model as a side of a bisection, executed by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import Array, ObservedBody
from ov_gather.crosscheck.bisect.graphs import Value, onnx_graph
from ov_gather.crosscheck.bisect.onnx_bodies import onnx_body
from ov_gather.crosscheck.bisect.sides import Arrays, Part, Replacement, Side
from ov_gather.crosscheck.models import intermediates
from ov_gather.runtimes.isolated import borrowed


class OnnxSide(Side):
    """An ONNX model on onnxruntime, with arrays by the names of its inputs."""

    def __init__(self, model: onnx_ir.Model, inputs: Arrays) -> None:
        self.graph, self._model, self._inputs = onnx_graph(model), model, dict(inputs)
        self.title = "onnxruntime CPU"

    def observe(self, values: Sequence[Value], *, plain: bool = False) -> dict[Value, NDArray[Any]]:
        """Return some values, by adding outputs to the model."""
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
        return {**dict(zip(wanted, found, strict=True)), **self._given()}

    def part(self, inputs: Mapping[Value, Replacement], outputs: Mapping[Value, str]) -> Part | None:
        """Extract nodes; None if the inputs do not bound them."""
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
        rest = {str(value.name): self._inputs[str(value.name)] for value in graph.inputs if value.name not in names}
        return OnnxPart(onnx_ir.Model(graph, ir_version=self._model.ir_version, functions=()), versions, rest)

    def computed_from(self, given: Mapping[Value, Replacement], output: Value) -> NDArray[Any] | None:
        """Execute the nodes between the given values and the output."""
        part = self.part(given, {output: self.graph.label(output)})
        if part is None:
            return None
        self.runs += 1
        (found,) = part.run([each.array for each in given.values()])
        return found

    def body(self, value: Value, array: Array) -> ObservedBody | None:
        """Return the body of an If, a Loop or a Scan."""
        node = next((node for node in self._model.graph if any(given.name == value for given in node.outputs)), None)
        return None if node is None else onnx_body(self._model, node, array)

    def inside(self, body: ObservedBody) -> OnnxSide:
        """Return the side of a body."""
        return OnnxSide(body.model, body.inputs)

    def constant(self, value: Value) -> NDArray[Any] | None:
        """Return an initializer, or the value of a Constant node."""
        found = next((each for each in _values(self._model.graph) if each.name == value), None)
        tensor = None if found is None else onnx_ir.convenience.get_const_tensor(found)
        return None if tensor is None or tensor.dtype is onnx_ir.DataType.STRING else tensor.numpy()

    def _given(self) -> Mapping[Value, NDArray[Any]]:
        return {name: self._inputs[name] for name in self.graph.inputs}


class OnnxPart(Part):
    """A part of an ONNX model. `rest` has the arrays of the model's inputs that the part uses."""

    def __init__(self, model: onnx_ir.Model, versions: Mapping[str, int], rest: Arrays) -> None:
        self.model, self.rest = model, rest
        model.graph.opset_imports.update(versions)

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the part with inputs in its own order."""
        names = [str(value.name) for value in self.model.graph.inputs]
        given = {**dict(zip((name for name in names if name not in self.rest), inputs, strict=True)), **self.rest}
        with borrowed(["onnxruntime"]) as (runtime,):
            return intermediates.run(self.model, {name: given[name] for name in names}, runtime)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the .onnx, with its external data beside it if it had any."""
        path = folder / f"{stem}.onnx"
        onnx_ir.save(self.model, path, external_data=f"{stem}.data" if intermediates.folder_of_data(self.model) else None)
        return path


def _values(graph: onnx_ir.Graph) -> list[onnx_ir.Value]:
    return [*graph.inputs, *graph.initializers.values(), *(value for node in graph for value in node.outputs)]
