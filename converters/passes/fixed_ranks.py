"""If whose branches return different ranks, where consumers accept one of them alone: OpenVINO refuses such models.

If(condition){Squeeze(x)}{x} -> y, Conv(y, weights of rank 3)  ->  the branch of another rank raises an error, as ONNX does:
{Reshape(Squeeze(x), [Size + 1, 1, 1])}, whose 1 is computed from the condition, so that nothing is folded
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir
from onnx_ir import DataType, Graph, Node, Value

from ov_gather.ops.onnx_nodes import is_branching
from ov_gather.ops.table import ONNX, OpKind, where

from ..graphs import bodies_of, constant_of, nodes_of
from ..shape_inference import infer_shapes
from .rewriter import Rewriter

_FIRST_OPSET = 5  # of Reshape by an input

Ranks = frozenset[int]
_ALL: Ranks = frozenset(range(64))
"""All ranks: more than any runtime permits."""

_LIKE_FIRST = where(
    ONNX, lambda op: op.kind in (OpKind.CAST, OpKind.NORMALIZATION) or op.rule in ("same_shape", "pad", "slice")
)
"""Operators whose output has the rank of the first input."""
_OF_RECURRENT = {0: 3, 1: 3, 2: 3, 3: 2, 4: 1, 5: 3, 6: 3, 7: 2}
_STATED = {"GRU": _OF_RECURRENT, "LSTM": _OF_RECURRENT, "RNN": _OF_RECURRENT, "Gemm": {0: 2, 1: 2}}
"""The rank of inputs that an operator demands, by position."""
_BROADCASTING = where(ONNX, lambda op: op.by_element and op.kind is not OpKind.CAST)
"""Operators whose output has the greatest rank of the inputs."""


def fixed_ranks(rewriter: Rewriter) -> None:
    """Rewrite in place, bodies included, where one rank above 0 is left of those of the branches."""
    if rewriter.opset >= _FIRST_OPSET and any(_is_open(node) for node in nodes_of(rewriter.model, "If")):
        wanted: dict[Value, Ranks] = {}
        _demands(rewriter.model.graph, {}, wanted)
        _settle(rewriter, rewriter.model.graph, wanted, {})
        infer_shapes(rewriter.model)


def _is_open(node: Node) -> bool:
    """Return True if the rank of an output is not known from both branches."""
    ends = [[_rank(value) for value in body.outputs] for _, body in bodies_of(node)]
    return any(len(ranks) > 1 or _ALL in ranks for ranks in map(set, zip(*ends, strict=False)))


def _rank(value: Value) -> Ranks:
    return _ALL if value.shape is None else frozenset([value.shape.rank()])


def _demands(graph: Graph, of_outputs: Mapping[Value, Ranks], wanted: dict[Value, Ranks]) -> dict[Value, Ranks]:
    """Return the ranks that nodes of a graph accept of values, also of those from outside; add its own ones to `wanted`.

    An If accepts of a value from outside what one of its branches accepts. Other bodies may never be executed.
    """
    found = dict(of_outputs)
    for node in reversed(graph):
        branches = []
        for _, body in bodies_of(node):
            ends = zip(node.outputs, body.outputs, strict=False) if is_branching(node) else ()
            branches.append(_demands(body, {inner: found.get(outer, _ALL) for outer, inner in ends}, wanted))
        if is_branching(node):
            for value in set.intersection(*map(set, branches)):
                found[value] = found.get(value, _ALL) & frozenset().union(*(branch[value] for branch in branches))
        for position, given in enumerate(node.inputs):
            if given is not None:
                found[given] = found.get(given, _ALL) & _accepted(node, position, found.get(node.outputs[0], _ALL))
    wanted |= {value: ranks for value, ranks in found.items() if value.graph is graph}
    return found


def _accepted(node: Node, position: int, output: Ranks) -> Ranks:
    """Return the ranks of an input with which the first output of a node may have one of these ranks."""
    if node.domain != "":
        return _ALL
    if (stated := _STATED.get(node.op_type, {}).get(position)) is not None:
        return frozenset([stated])
    if position == 0 and "kernel_shape" in node.attributes:
        return frozenset([len(node.attributes["kernel_shape"].as_ints()) + 2])
    alike = node.inputs if node.op_type == "Concat" else node.inputs[:2] if node.op_type.startswith("Conv") else ()
    if position < len(alike):
        return output.intersection(*(_rank(value) for value in alike if value is not None))
    if node.op_type in _BROADCASTING:
        others = [_rank(value) for value in node.inputs if value is not None and value is not node.inputs[position]]
        least = max((max(ranks) for ranks in others if ranks != _ALL), default=0)
        most = max(output, default=0) if _ALL in others else -1
        return frozenset(rank for rank in _ALL if rank <= most or max(rank, least) in output)
    if position == 0 and (added := _added(node)) is not None:
        return frozenset(rank - added for rank in output) & _ALL
    return _ALL


def _added(node: Node) -> int | None:
    """Return how many axes more than the first input the output of a node has; None if that is unknown."""
    if node.op_type in _LIKE_FIRST:
        return 0
    if node.op_type not in ("Squeeze", "Unsqueeze"):
        return None
    axes = node.inputs[1] if len(node.inputs) > 1 else None
    if axes is not None:
        tensor = constant_of(axes)
        count = None if tensor is None else tensor.size
    else:
        count = len(node.attributes["axes"].as_ints()) if "axes" in node.attributes else None
    return -count if count is not None and node.op_type == "Squeeze" else count


def _settle(rewriter: Rewriter, graph: Graph, wanted: Mapping[Value, Ranks], possible: dict[Value, Ranks]) -> None:
    """Find the ranks that values may have, in the order of nodes, and let branches raise an error that have another one."""

    def ranks_of(value: Value) -> Ranks:
        return _rank(value) & possible.get(value, _ALL)

    for node in list(graph):
        for _, body in bodies_of(node):
            _settle(rewriter, body, wanted, possible)
        if is_branching(node):
            for position, output in enumerate(node.outputs):
                ends = [ranks_of(body.outputs[position]) for _, body in bodies_of(node)]
                found = possible[output] = frozenset().union(*ends) & wanted.get(output, _ALL)
                if len(found) > 1 or 0 in found:
                    continue
                for rank in found:
                    wrong = [branch for branch, ranks in zip(bodies_of(node), ends, strict=True) if rank not in ranks]
                    for name, body in wrong:
                        _raise_in(rewriter, node, name, body, position, rank)
        elif (added := _added(node)) is not None and node.domain == "" and node.inputs[0] is not None:
            ranks = frozenset(rank + added for rank in ranks_of(node.inputs[0])) & _ALL
            possible[node.outputs[0]] = ranks & wanted.get(node.outputs[0], _ALL)


def _raise_in(rewriter: Rewriter, node: Node, name: str, body: Graph, position: int, rank: int) -> None:
    """Let an output of a branch have the rank, by a Reshape to one element too many if the branch is taken."""
    value, condition = body.outputs[position], node.inputs[0]
    last = rewriter.identity(value, f"{value.name}.of_rank_{rank}")
    body.append(last)
    op = rewriter.before(last)
    taken = condition if name == "then_branch" else op.Not(condition)
    count = op.Add(op.Size(value, shape=[]), op.Cast(taken, to=DataType.INT64))
    first = op.Reshape(count, rewriter.constant(last, [1]), shape=[1])
    rewriter.instead(last).Reshape(value, op.Concat(first, rewriter.constant(last, [1] * (rank - 1)), axis=0))
    last.outputs[0].shape = onnx_ir.Shape([None] * rank)
    body.outputs[position] = last.outputs[0]
    rewriter.report(node, f"its {name} raises an error if taken: what reads its results takes {rank} dimensions alone")
