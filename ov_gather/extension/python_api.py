"""OpenVINO's Python classes under their names since 2025.0; older releases have them in `openvino.runtime`."""

from __future__ import annotations

import openvino

if hasattr(openvino, "Node"):
    from openvino import Dimension, Model, Node, Output, PartialShape, Symbol, Tensor, Type, op, opset8, opset13, opset15
    from openvino.passes import ConstantFolding, Manager
    from openvino.utils.node_factory import NodeFactory
else:
    try:
        from openvino.runtime import (
            Dimension,
            Model,
            Node,
            Output,
            PartialShape,
            Symbol,
            Tensor,
            Type,
            op,
            opset8,
            opset13,
            opset15,
        )
        from openvino.runtime.passes import ConstantFolding, Manager
        from openvino.runtime.utils.node_factory import NodeFactory
    except ImportError:
        release = openvino.get_version().split("-")[0]
        raise ImportError(f"OpenVINO {release} is too old for this: pip install 'openvino>=2024.6'") from None

__all__ = [
    "ConstantFolding",
    "Dimension",
    "Manager",
    "Model",
    "Node",
    "NodeFactory",
    "Output",
    "PartialShape",
    "Symbol",
    "Tensor",
    "Type",
    "op",
    "opset8",
    "opset13",
    "opset15",
]
