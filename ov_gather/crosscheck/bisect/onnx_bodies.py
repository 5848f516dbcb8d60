"""Extraction of the body of an ONNX If, Loop or Scan as a separate model."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import onnx
import onnx_ir
from numpy.typing import NDArray

from ov_gather.crosscheck.bisect.bodies import ITERATION, Array, Joined, ObservedBody, Origin, Sliced, SliceOrigin
from ov_gather.crosscheck.bisect.graphs import Value, captured
from ov_gather.crosscheck.models.intermediates import folder_of_data
from ov_gather.ops.onnx_nodes import attribute

_TRUE = ""
"""Origin of the condition of a Loop that has no such input."""


def onnx_body(model: onnx_ir.Model, node: onnx_ir.Node, array: Array) -> ObservedBody | None:
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
    onnx_ir.external_data.set_base_dir(made, folder_of_data(model) or "")
    for value in list(made.inputs):
        if not value.uses() and not value.is_graph_output():
            made.inputs.remove(value)
    made.opset_imports.update(model.opset_imports)
    return made


def _name(value: onnx_ir.Value | None) -> str:
    return "" if value is None else str(value.name)
