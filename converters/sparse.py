"""Sparse constants of ONNX models, made dense: onnx-ir reads none, and OpenVINO folds them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.external_data_helper import uses_external_data

_LARGEST = 2**31
"""Bytes of a dense tensor from which on a sparse one is refused; a file of a few bytes may state any size."""


def dense(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without sparse constants, bodies and functions included; the model itself if it has none.

    Constant(sparse_value)     ->  Constant(value)
    sparse_initializer of a graph  ->  initializer

    Raises ValueError for a sparse tensor that is malformed, stands in another file, or would be too large.
    """
    if not any(map(_has_sparse, _graphs(model))):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for graph in _graphs(changed):
        if isinstance(graph, onnx.GraphProto):
            graph.initializer.extend(_dense(tensor, tensor.values.name) for tensor in graph.sparse_initializer)
            graph.ClearField("sparse_initializer")
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.SPARSE_TENSOR and node.op_type == "Constant":
                    attribute.t.CopyFrom(_dense(attribute.sparse_tensor, node.output[0] if node.output else ""))
                    attribute.ClearField("sparse_tensor")
                    attribute.name, attribute.type = "value", onnx.AttributeProto.TENSOR
    return changed


def _has_sparse(graph: onnx.GraphProto | onnx.FunctionProto) -> bool:
    of_nodes = (attribute.type for node in graph.node for attribute in node.attribute)
    return (
        bool(isinstance(graph, onnx.GraphProto) and graph.sparse_initializer) or onnx.AttributeProto.SPARSE_TENSOR in of_nodes
    )


def _graphs(model: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield graph
        for attribute in (attribute for node in graph.node for attribute in node.attribute):
            waiting += [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]


def _dense(tensor: onnx.SparseTensorProto, name: str) -> onnx.TensorProto:
    if uses_external_data(tensor.values) or uses_external_data(tensor.indices):
        raise ValueError(f"the sparse tensor '{name}' is in another file: store its values and indices in the model")
    values, indices = (numpy_helper.to_array(part) for part in (tensor.values, tensor.indices))
    sizes = list(tensor.dims)
    if min(sizes, default=1) < 0 or prod(sizes) * values.itemsize >= _LARGEST:
        raise ValueError(f"the sparse tensor '{name}' has dims {sizes}, which is no size, or 2 GiB or more if it is dense")
    flat = indices if indices.ndim == 1 else _flat(indices, sizes, name)
    if flat.size != values.size or (flat.size and not 0 <= flat.min() <= flat.max() < prod(sizes)):
        raise ValueError(f"the sparse tensor '{name}' has an index outside of dims {sizes}, or not one for each value")
    filled = np.zeros(prod(sizes), values.dtype)
    filled[flat] = values
    return numpy_helper.from_array(filled.reshape(sizes), name)


def _flat(indices: NDArray[Any], sizes: list[int], name: str) -> NDArray[Any]:
    """Return the positions in the flattened tensor of coordinates, one row each."""
    is_inside = indices.ndim == 2 and indices.shape[1] == len(sizes) and np.all((indices >= 0) & (indices < sizes))
    if not is_inside:
        raise ValueError(f"the sparse tensor '{name}' has coordinates outside of dims {sizes}")
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    flat: NDArray[Any] = indices @ np.array(steps, np.int64)
    return flat
