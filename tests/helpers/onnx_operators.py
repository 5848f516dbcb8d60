"""ONNX operators executed one by one on onnxruntime, so that an operator that raises hides nothing but what depends on it."""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import helper


class Runner:
    """Executes nodes; each is compiled once for all shapes."""

    def __init__(self, opset: int) -> None:
        self._opset = helper.make_opsetid("", opset)
        self._options = onnxruntime.SessionOptions()
        self._options.log_severity_level = 4
        self._options.intra_op_num_threads = self._options.inter_op_num_threads = 1
        self._options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self._sessions: dict[bytes, onnxruntime.InferenceSession | None] = {}

    def run(self, node: onnx.NodeProto, values: Mapping[str, np.ndarray]) -> list[np.ndarray] | None:
        """The outputs of a node; None where an operand is missing, or onnxruntime refuses it."""
        operands = operands_of(node)
        if not all(name in values for name in operands):
            return None
        if not _is_right(node, [values[name] for name in node.input if name]):
            return None
        key = node.SerializeToString()
        if key not in self._sessions:
            self._sessions[key] = self._session(node, {name: values[name].dtype for name in operands})
        session = self._sessions[key]
        try:
            if node.op_type in ("Clip", "Max", "Min") and values[node.input[0]].dtype == np.int64:
                return [_limited(node.op_type, [values[name] if name else None for name in node.input])]
            return None if session is None else list(session.run(None, {name: values[name] for name in operands}))
        except Exception:  # onnxruntime's errors have no common base but this, and NumPy has others
            return None

    def _session(self, node: onnx.NodeProto, types: Mapping[str, np.dtype]) -> onnxruntime.InferenceSession | None:
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None) for name, dtype in types.items()
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        graph = helper.make_graph([node], "one", inputs, outputs)
        model = helper.make_model(graph, opset_imports=[self._opset], ir_version=10)
        try:
            return onnxruntime.InferenceSession(model.SerializeToString(), self._options)
        except Exception:  # onnxruntime's errors have no common base but this
            return None


def _is_right(node: onnx.NodeProto, arrays: Sequence[np.ndarray]) -> bool:
    """Whether operands are such that onnxruntime does what ONNX means.

    It joins empty arrays of any shapes, and keeps an empty axis that is reduced.
    """
    if node.op_type == "Clip":
        return all(array.ndim == 0 for array in arrays[1:])
    if node.op_type == "Concat":
        axis = node.attribute[0].i
        return len({(array.ndim, array.shape[:axis], array.shape[axis:][1:]) for array in arrays}) == 1
    return not node.op_type.startswith(("Arg", "Reduce")) or arrays[0].size > 0


def _limited(operator: str, arrays: Sequence[np.ndarray | None]) -> np.ndarray:
    """Compare as ONNX means it: to onnxruntime some integers of more than 32 bits are less than they are."""
    found, *others = arrays
    works = {"Clip": (np.maximum, np.minimum), "Max": [np.maximum] * len(others), "Min": [np.minimum] * len(others)}[operator]
    for work, other in zip(works, others, strict=False):
        found = found if other is None else work(found, other)
    return np.asarray(found)


def operands_of(node: onnx.NodeProto) -> list[str]:
    """The values that a node and its bodies take."""
    return list(dict.fromkeys([*filter(None, node.input), *_captured(node)]))


def _captured(node: onnx.NodeProto) -> list[str]:
    """What the bodies of a node take from around it."""
    bodies = [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
    made = {name for body in bodies for inner in body.node for name in inner.output}
    made |= {value.name for body in bodies for value in body.input} | {one.name for body in bodies for one in body.initializer}
    used = [name for body in bodies for inner in body.node for name in inner.input]
    return [name for name in [*used, *(one.name for body in bodies for one in body.output)] if name and name not in made]
