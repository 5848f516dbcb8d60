"""Models that take indices as PyTorch Geometric's GAT and TAPAS do. OpenVINO crashes when an index is out of bounds."""

import numpy as np
import openvino as ov
from openvino import opset8, opset12, opset13

import ov_gather
from helpers.hardening import RAISED, infer_model

NODES, EDGES, WIDTH = 6, 8, 4


def graph_network(is_open):
    """One layer of graph attention: scores of edges, softmax over the edges of a node by scatters, and a sum of messages."""
    x = opset13.parameter([-1 if is_open else NODES, WIDTH], np.float32, name="x")
    edges = opset13.parameter([2, -1 if is_open else EDGES], np.int64, name="edges")
    zero = opset13.constant(0)
    source, target = (opset8.gather(edges, opset13.constant(row), zero) for row in (0, 1))
    messages = opset13.add(opset8.gather(x, source, zero), opset8.gather(x, target, zero))
    expanded = opset13.broadcast(
        opset13.unsqueeze(target, opset13.constant([1])), opset13.shape_of(messages, output_type="i64"), "BIDIRECTIONAL"
    )
    nothing = opset13.multiply(x, opset13.constant(np.float32(0)))
    total = opset12.scatter_elements_update(nothing, expanded, messages, zero, "sum")
    return ov.Model([total], [x, edges], "model")


def graph_inputs(index):
    edges = np.random.default_rng(0).integers(0, NODES, (2, EDGES))
    edges[1, -1] = index
    return [np.ones((NODES, WIDTH), np.float32), edges]


def segments(is_open):
    """Two columns of an input look up tables of their own, and a third one says to which segment a number belongs."""
    ids = opset13.parameter([-1 if is_open else EDGES, 3], np.int64, name="token_type_ids")
    zero = opset13.constant(0)
    first, second, third = (opset8.gather(ids, opset13.constant(column), opset13.constant(1)) for column in range(3))
    tables = [opset13.constant(np.ones((size, 2), np.float32)) for size in (16, 3)]
    found = opset13.add(opset8.gather(tables[0], first, zero), opset8.gather(tables[1], second, zero))
    values = opset13.reduce_sum(found, opset13.constant(1))
    sums = opset12.scatter_elements_update(opset13.constant(np.zeros(8, np.float32)), third, values, zero, "sum")
    back = opset13.gather_elements(sums, third, 0)
    return ov.Model([back], [ids], "model")


def attend(item):
    """What becomes of one inference of the graph network with an index out of bounds: "finite" numbers, or RAISED."""
    policy, is_open, index = item
    return _outcome(graph_network(is_open), policy, graph_inputs(index))


def reduce_segments(item):
    """What becomes of one inference of the segments with an index out of bounds: "finite" numbers, or RAISED."""
    policy, is_open, index = item
    ids = np.zeros((EDGES, 3), np.int64)
    ids[-1] = index
    return _outcome(segments(is_open), policy, [ids])


def _outcome(model, policy, inputs):
    if policy:
        ov_gather.harden(model, policy=policy)
    result = infer_model(model, inputs)
    if result == RAISED:
        return RAISED
    return "finite" if np.isfinite(np.frombuffer(result[0], np.float32)).all() else "not finite"
