"""ONNX models that tests save as files."""

from __future__ import annotations

import onnx
from onnx import helper, numpy_helper


def save(path, nodes, inputs, outputs, constants):
    """Save a model of opset 18; inputs are names with types and shapes, outputs names with types."""
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    results = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "graph", infos, results, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path
