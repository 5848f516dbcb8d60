"""Casts of 64-bit inputs that are moved before, as attention masks are. OpenVINO's CPU plugin casts inputs alone by all bits.

Cast(Unsqueeze(mask)) to float     ->  Unsqueeze(Cast(mask))
Cast(Unsqueeze(mask)) to boolean   ->  Cast(Unsqueeze(Cast(mask to float)))
"""

from __future__ import annotations

import onnx_ir
from onnx_ir import DataType

from ov_gather.ir.element_types import F16, F32, I64, U64, by_onnx
from ov_gather.ops.table import ONNX, OpKind

from ..graphs import nodes_of
from ..moves import element_type_of
from .rewriter import Rewriter


def early_casts(rewriter: Rewriter) -> None:
    """Rewrite in place, in the main graph."""
    for cast in nodes_of(rewriter.model, "Cast"):
        made = by_onnx(cast.attributes["to"].as_int())
        is_boolean = made is not None and made.name == "boolean"
        moves = _moves_of_input(cast) if is_boolean or made in (F16, F32) else None
        if moves is None or (not moves and not is_boolean):
            continue
        first = moves[0].inputs[0] if moves else cast.inputs[0]
        kind = DataType.FLOAT if is_boolean else cast.outputs[0].dtype
        value = rewriter.before(cast).Cast(first, to=kind, shape=None if first is None else first.shape)
        for move in moves:
            attributes = {name: attribute.value for name, attribute in move.attributes.items()}
            value = rewriter.insert(cast, move.op_type, [value, *move.inputs[1:]], kind, move.outputs[0].shape, **attributes)
        if is_boolean:
            rewriter.replace_input(cast, 0, value)
        else:
            rewriter.instead(cast).Identity(value)
        rewriter.report(cast, "64-bit input cast before it is moved, as OpenVINO would move 32 bits")


def _moves_of_input(cast: onnx_ir.Node) -> list[onnx_ir.Node] | None:
    """Return the nodes that move a 64-bit input of the model before it is cast, first to last; None if it is computed."""
    value, moves = cast.inputs[0], list[onnx_ir.Node]()
    while value is not None and (node := value.producer()) is not None:
        op = ONNX[node.op_type]
        is_move = node.domain == "" and op.kind is OpKind.MOVE and op.meaning.sources == (0,) and len(node.outputs) == 1
        if not is_move or node.graph is not cast.graph:
            return None
        moves.insert(0, node)
        value = node.inputs[0]
    is_input = value is not None and value.is_graph_input() and value.graph is cast.graph and not value.is_initializer()
    return moves if is_input and element_type_of(value) in (I64, U64) and isinstance(cast.graph, onnx_ir.Graph) else None
