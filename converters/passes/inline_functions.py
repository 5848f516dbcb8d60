"""The functions that a model defines itself, inlined: what they gather is rewritten for each place that calls them."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes import PreconditionError
from onnx_ir.passes.common import InlinePass, NameFixPass
from ov_gather.converters.passes.rewriter import Rewrite


def inline_functions(model: onnx_ir.Model) -> list[Rewrite]:
    """Inline in place; what cannot be (of another opset than the model, recursive) is left to whoever executes the model."""
    names = [f"function {domain}.{name}" for domain, name, _ in model.functions]
    if not names:
        return []
    for function in model.functions.values():
        for node in function.all_nodes():
            for output in node.outputs:
                output.shape = None  # a size that is named there is another for each call
    try:
        InlinePass()(model)
    except (PreconditionError, ValueError) as error:
        return [Rewrite(name, f"not inlined: {error}", False) for name in names]
    NameFixPass()(model)  # a body may already use the names that inlining makes up
    return [Rewrite(name, "inlined", True) for name in names]
