"""An ONNX model as a side of a bisection, executed by onnxruntime, and the body of its If, Loop or Scan as a separate model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.converters.onnx_graph import value_of
from ov_gather.crosscheck.bisect.bodies import Extracted, ObservedBody
from ov_gather.crosscheck.bisect.graphs import onnx_graph
from ov_gather.crosscheck.bisect.sides import Arrays, Part, Replacement, Side
from ov_gather.crosscheck.models import intermediates
from ov_gather.crosscheck.models.quantisation import with_exact_products, without_quantisation
from ov_gather.graph.protocol import Body, Key, Node
from ov_gather.runtimes.isolated import borrowed


class OnnxSide(Side):
    """An ONNX model on onnxruntime, with arrays by the names of its inputs."""

    def __init__(self, model: onnx_ir.Model, inputs: Arrays) -> None:
        self.graph, self._model, self._inputs = onnx_graph(model), model, dict(inputs)
        self.title = "onnxruntime CPU"

    def observe(self, values: Sequence[Key], *, plain: bool = False) -> dict[Key, NDArray[Any]]:
        """Return some values, by adding outputs to the model."""
        self.runs += 1
        given = self._given()
        wanted = [value_of(key) for key in dict.fromkeys([*self.graph.outputs.values(), *values]) if key not in given]
        with borrowed(["plain onnxruntime" if plain else "onnxruntime"]) as (runtime,):
            found = intermediates.values(self._model, wanted, self._inputs, runtime)
        return {**dict(zip(wanted, found, strict=True)), **given}

    def repeated(self, times: int) -> list[dict[Key, NDArray[Any]]]:
        """Return the outputs of several inferences: a random node with a seed begins anew in each session."""
        keys, given = list(self.graph.outputs.values()), list(self._inputs.values())
        with borrowed(["onnxruntime"]) as (runtime,), intermediates.activated(self._model, runtime):
            return [dict(zip(keys, runtime.execute(given), strict=True)) for _ in range(times)]

    def without_quantisation(self) -> Mapping[Key, NDArray[Any]]:
        """Return the outputs of the model without dynamic quantisation; nothing if it has none."""
        floats = without_quantisation(self._model)
        if floats is None:
            return {}
        self.runs += 1
        with borrowed(["plain onnxruntime"]) as (runtime,):
            found = intermediates.run(floats, self._inputs, runtime)
        return dict(zip(self._model.graph.outputs, found, strict=True))

    def part(self, inputs: Mapping[Key, Replacement], outputs: Mapping[Key, str]) -> Part | None:
        """Extract nodes; None if the inputs do not bound them."""
        arrays = {str(value_of(key).name): given.array for key, given in inputs.items()}
        names = [*arrays, *(name for name in self.graph.inputs if name not in arrays)]
        try:
            graph = onnx_ir.convenience.extract(self._model.graph, names, [str(value_of(key).name) for key in outputs])
        except ValueError:
            return None
        given = {value.name: value for value in graph.inputs}
        for value in (value for node in graph for value in node.outputs if value.name in given):
            value.replace_all_uses_with(given[value.name])  # the node stays for its other outputs
            value.name = f"{value.name}/computed"
        graph.inputs[:] = [value for value in graph.inputs if value.name in arrays or value.uses() or value.is_graph_output()]
        for value in graph.inputs:
            if (array := arrays.get(str(value.name))) is not None:
                value.shape = onnx_ir.Shape(array.shape)
                if value.dtype is None:
                    value.dtype = onnx_ir.DataType.from_numpy(array.dtype)
        versions = dict(self._model.opset_imports)
        rest = {str(value.name): self._inputs[str(value.name)] for value in graph.inputs if value.name not in arrays}
        return OnnxPart(onnx_ir.Model(graph, ir_version=self._model.ir_version, functions=()), versions, rest)

    def computed_from(self, given: Mapping[Key, Replacement], output: Key) -> NDArray[Any] | None:
        """Execute the nodes between the given values and the output."""
        part = self.part(given, {output: self.graph.label(output)})
        if part is None:
            return None
        self.runs += 1
        (found,) = part.run([each.array for each in given.values()])
        return found

    def _extract(self, node: Node, body: Body, given: Mapping[Key, NDArray[Any]]) -> Extracted:
        assert isinstance(body.id, onnx_ir.Graph)
        made = _with_inputs(self._model, body.id, {str(value_of(key).name): array for key, array in given.items()})
        values = {value.name: value for value in (*made.inputs, *(value for node in made for value in node.outputs))}
        values |= made.initializers.items()
        inputs = {str(value.name) for value in made.inputs}
        names = {key: name for key in given if (name := str(value_of(key).name)) in inputs}
        return Extracted(onnx_ir.Model(made, ir_version=self._model.ir_version), names, lambda key: values[value_of(key).name])

    def inside(self, body: ObservedBody) -> OnnxSide:
        """Return the side of a body."""
        return OnnxSide(body.model, body.inputs)

    def constant(self, value: Key) -> NDArray[Any] | None:
        """Return an initializer, or the value of a Constant node."""
        tensor = onnx_ir.convenience.get_const_tensor(value) if isinstance(value, onnx_ir.Value) else None
        return None if tensor is None or tensor.dtype is onnx_ir.DataType.STRING else tensor.numpy()


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

    def with_exact_products(self) -> OnnxPart | None:
        """Return the part with products of unsigned bytes."""
        changed = with_exact_products(self.model)
        return None if changed is None else OnnxPart(changed, {}, self.rest)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the .onnx, with its external data beside it if it had any."""
        path = folder / f"{stem}.onnx"
        onnx_ir.save(self.model, path, external_data=f"{stem}.data" if intermediates.folder_of_data(self.model) else None)
        return path


def _with_inputs(model: onnx_ir.Model, graph: onnx_ir.Graph, inputs: dict[str, NDArray[Any]]) -> onnx_ir.Graph:
    """Copy a body, with static shapes of its inputs, and without unused ones."""
    proto = onnx_ir.serde.serialize_graph(graph)
    del proto.input[:]
    for name, found in inputs.items():
        kind = onnx_ir.DataType.STRING if found.dtype.hasobject else onnx_ir.DataType.from_numpy(found.dtype)
        proto.input.append(onnx.helper.make_tensor_value_info(name, kind.value, found.shape))
    made = onnx_ir.serde.deserialize_graph(proto)
    onnx_ir.external_data.set_base_dir(made, intermediates.folder_of_data(model) or "")
    made.inputs[:] = [value for value in made.inputs if value.uses() or value.is_graph_output()]
    made.opset_imports.update(model.opset_imports)
    return made
