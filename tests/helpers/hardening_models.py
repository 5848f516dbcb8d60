"""Models that take indices as PyTorch Geometric's GAT and TAPAS do. OpenVINO crashes when an index is out of bounds."""

import numpy as np
from openvino import opset13 as ops

import ov_gather
from helpers.hardening import RAISED, infer_model
from helpers.openvino_models import made_of

NODES, EDGES, WIDTH = 6, 8, 4


def graph_network(is_open):
    """One layer of graph attention: scores of edges, softmax over the edges of a node by scatters, and a sum of messages."""

    def make(x, edges):
        source, target = (ops.gather(edges, ops.constant(row), 0) for row in (0, 1))
        messages = ops.add(ops.gather(x, source, 0), ops.gather(x, target, 0))
        expanded = ops.broadcast(ops.unsqueeze(target, [1]), ops.shape_of(messages, output_type="i64"), "BIDIRECTIONAL")
        return ops.scatter_elements_update(ops.multiply(x, np.float32(0)), expanded, messages, 0, "sum")

    nodes, edges = ("?", "?") if is_open else (NODES, EDGES)
    return made_of(make, x=f"f32[{nodes},{WIDTH}]", edges=f"i64[2,{edges}]")


def graph_inputs(index):
    edges = np.random.default_rng(0).integers(0, NODES, (2, EDGES))
    edges[1, -1] = index
    return [np.ones((NODES, WIDTH), np.float32), edges]


def segments(is_open):
    """Two columns of an input look up tables of their own, and a third one says to which segment a number belongs."""

    def make(ids):
        *columns, third = (ops.gather(ids, ops.constant(column), 1) for column in range(3))
        tables = [np.ones((size, 2), np.float32) for size in (16, 3)]
        found = ops.add(*(ops.gather(table, column, 0) for table, column in zip(tables, columns, strict=True)))
        sums = ops.scatter_elements_update(np.zeros(8, np.float32), third, ops.reduce_sum(found, 1), 0, "sum")
        return ops.gather_elements(sums, third, 0)

    return made_of(make, token_type_ids=f"i64[{'?' if is_open else EDGES},3]")


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
