"""Inlining of the functions that a model defines, so that their gathers are rewritten for each call.

f(a) = Gather(data, a), y = f(x)  ->  y = Gather(data, x)
"""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes import PreconditionError
from onnx_ir.passes.common import InlinePass, NameFixPass

from ov_gather.system.traversal import breadth_first

from ..errors import ConversionError
from ..graphs import bodies_of
from .rewriter import Rewrite

# Limits of added nodes and of nested bodies: functions that call one another may exceed memory, and protobuf limits nesting.
LARGEST, DEEPEST = 100_000, 30


def inline_functions(model: onnx_ir.Model) -> list[Rewrite]:
    """Inline in place; functions that are recursive or of another opset stay. Raises ConversionError for too many nodes."""
    names = [f"function {domain}.{name}" for domain, name, _ in model.functions]
    if not names:
        return []
    _refuse_large(model)
    for function in model.functions.values():
        for node in function.all_nodes():
            for output in node.outputs:
                output.shape = None  # symbolic sizes differ between calls
    try:
        InlinePass()(model)
    except (PreconditionError, ValueError) as error:
        return [Rewrite(name, f"not inlined: {error}", False) for name in names]
    NameFixPass()(model)  # a body may already use the names that inlining creates
    return [Rewrite(name, "inlined", True) for name in names]


def _refuse_large(model: onnx_ir.Model) -> None:
    """Compute the size of each function after inlining, callees first; raise ConversionError if it exceeds the limits."""
    functions = model.functions
    calls = {name: [node.op_identifier() for node in function.all_nodes()] for name, function in functions.items()}
    order = breadth_first({name: functions.keys() & called for name, called in calls.items()})
    if len(order) < len(functions):
        return  # a function calls itself, which InlinePass refuses
    expanded: dict[onnx_ir.OperatorIdentifier, tuple[int, int]] = {}
    for name in order:
        expanded[name] = _expanded(f"function {name[0]}.{name[1]}", functions[name].graph, expanded)
    _expanded("the model", model.graph, expanded)


def _expanded(
    place: str, graph: onnx_ir.Graph, of_functions: dict[onnx_ir.OperatorIdentifier, tuple[int, int]]
) -> tuple[int, int]:
    """Return the number of nodes of a graph after inlining, and its depth of nested bodies. Raises ConversionError."""
    own, nodes, deepest, waiting = 0, 0, 0, [(graph, 1)]
    while waiting:
        body, level = waiting.pop()
        for node in body:
            inside, levels = of_functions.get(node.op_identifier(), (1, 1))
            own, nodes, deepest = own + 1, nodes + inside, max(deepest, level + levels - 1)
            waiting += [(inner, level + 1) for _, inner in bodies_of(node)]
    if nodes - own > LARGEST:
        raise ConversionError(
            f"{place} grows from {own:,} to {nodes:,} nodes when functions are inlined; at most {LARGEST:,} may be added"
        )
    if deepest > DEEPEST:
        raise ConversionError(f"{place} has bodies on {deepest} levels when functions are inlined; at most {DEEPEST} may be")
    return nodes, deepest
