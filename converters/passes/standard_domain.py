"""Operators of other domains that ONNX has as well get its domain, so that every rewrite and every proof knows them.

com.microsoft.GatherND(data, indices)  ->  GatherND(data, indices)
"""

from __future__ import annotations

import onnx_ir

_SINCE = {"GatherND": 11}
"""Operators of com.microsoft that are the same in ONNX, with the opset in which they came."""
_OF_REWRITES = 13
"""The opset of the operators that rewrites insert, for a model that has none of its own."""


def standard_domain(model: onnx_ir.Model) -> None:
    """Rewrite in place, where the model's opset has the operator."""
    if not {"", "ai.onnx"} & set(model.opset_imports):
        model.opset_imports[""] = _OF_REWRITES
    opset = model.opset_imports.get("", 0)
    for node in model.graph.all_nodes():
        if node.domain == "com.microsoft" and opset >= _SINCE.get(node.op_type, opset + 1):
            node.domain = ""
