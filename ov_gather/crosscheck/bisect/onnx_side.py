"""An ONNX model as a side of a bisection, executed by onnxruntime, and the body of its If, Loop or Scan as a separate model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.graphs import Value, captured, onnx_graph
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
from ov_gather.crosscheck.models import intermediates
from ov_gather.ops.onnx_nodes import attribute
from ov_gather.runtimes.isolated import borrowed

_TRUE = ""
"""Origin of the condition of a Loop that has no such input."""


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
        with borrowed(["plain onnxruntime" if plain else "onnxruntime"]) as (runtime,):
            found = intermediates.values(self._model, [by_name[name] for name in wanted], self._inputs, runtime)
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
        graph.inputs[:] = [value for value in graph.inputs if value.name in names or value.uses() or value.is_graph_output()]
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
        return None if node is None else _body_of(self._model, node, array)

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


def _body_of(model: onnx_ir.Model, node: onnx_ir.Node, array: Array) -> ObservedBody | None:
    """Extract the body of a node; None for other nodes, and if an input is unknown."""
    if node.op_type not in ("If", "Loop", "Scan"):
        return None
    condition = array(_name(node.inputs[0])) if node.op_type == "If" else np.array(True)
    if condition is None:
        return None
    branch = "then_branch" if condition.reshape(-1)[0] else "else_branch"
    graph = node.attributes[branch if node.op_type == "If" else "body"].as_graph()
    given = _given(node, graph) | {_name(value): _name(value) for value in captured(node, model.graph)}
    inputs: dict[str, NDArray[Any]] = {}
    sliced: dict[str, Sliced] = {}
    for position, (name, origin) in enumerate(given.items()):
        if origin in (ITERATION, _TRUE):
            inputs[name] = np.array(0, np.int64) if origin == ITERATION else np.array(True)
            continue
        found = array(origin.value if isinstance(origin, SliceOrigin) else origin)
        if found is None:
            return None
        if isinstance(origin, SliceOrigin):
            sliced[name] = _sliced(node, found, position - _states(node))
            if not sliced[name].count:
                return None
        inputs[name] = sliced[name][0] if name in sliced else found
    made = _with_inputs(model, graph, inputs)
    names = [_name(value) for value in made.inputs]
    outputs = [_name(value) for value in graph.outputs]
    states = {"Loop": outputs, "Scan": outputs[: _states(node)]}.get(node.op_type, [])
    of_states = [_name(value) for value in graph.inputs[int(node.op_type == "Loop") :]]  # the iteration number is not carried
    counts = [pieces.count for pieces in sliced.values()]
    if node.op_type == "Loop":
        trips = None if node.inputs[0] is None else array(_name(node.inputs[0]))
        counts.append(sys.maxsize if trips is None else int(trips.reshape(-1)[0]))
    return ObservedBody(
        onnx_ir.Model(made, ir_version=model.ir_version),
        {name: inputs[name] for name in names},
        {name: given[name] for name in names},
        min(counts, default=1),
        0,
        {name: sliced[name] for name in names if name in sliced},
        {name: value for name, value in zip(of_states, states, strict=False) if name in names},
        outputs[0] if node.op_type == "Loop" else None,
        dict(zip(map(_name, node.outputs), outputs[int(node.op_type == "Loop") :], strict=True)),
        _joined(node),
    )


def _given(node: onnx_ir.Node, graph: onnx_ir.Graph) -> dict[str, Origin]:
    """Map the inputs of a body to their origins."""
    if node.op_type == "Scan":
        states, origins = _states(node), [_name(value) for value in node.inputs]
        return {
            _name(inner): origin if i < states else SliceOrigin(origin)
            for i, (inner, origin) in enumerate(zip(graph.inputs, origins, strict=True))
        }
    if node.op_type == "If":
        return {}
    iteration, condition, *carried = graph.inputs
    given: dict[str, Origin] = {_name(iteration): ITERATION, _name(condition): _name(node.inputs[1]) or _TRUE}
    return given | {_name(inner): _name(outer) for inner, outer in zip(carried, node.inputs[2:], strict=False)}


def _states(node: onnx_ir.Node) -> int:
    """Return the number of values that a Scan carries between iterations."""
    return len(node.inputs) - attribute(node, "num_scan_inputs", 0)


def _sliced(node: onnx_ir.Node, array: NDArray[Any], position: int) -> Sliced:
    """Return how a Scan slices one of its inputs."""
    axis, direction = (
        node.attributes[name].as_ints()[position] if name in node.attributes else 0
        for name in ("scan_input_axes", "scan_input_directions")
    )
    return Sliced(array, axis % array.ndim, 0, bool(direction))


def _joined(node: onnx_ir.Node) -> dict[Value, Joined]:
    """Return how a Loop or a Scan stacks its scan outputs."""
    count = {"Loop": len(node.inputs) - 2, "Scan": _states(node)}.get(node.op_type, len(node.outputs))
    stacked = node.outputs[count:]
    axes, directions = (
        node.attributes[name].as_ints() if name in node.attributes else [0] * len(stacked)
        for name in ("scan_output_axes", "scan_output_directions")
    )
    return {
        _name(value): Joined(axis, True, bool(direction))
        for value, axis, direction in zip(stacked, axes, directions, strict=True)
    }


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


def _name(value: onnx_ir.Value | None) -> str:
    return "" if value is None else str(value.name)
