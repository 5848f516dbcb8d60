"""ONNX models are written to files: with all their tensors for users, and without a copy of them for OpenVINO to read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkstemp

import onnx_ir

from ov_gather.files import scratch

from .external_data import external_tensors

MAXIMUM_INSIDE = 1 << 30
"""The most bytes of tensors that are written into a protobuf, which ends at 2 GB with all else that it has."""


def save_onnx(model: onnx_ir.Model, path: Path) -> None:
    """Write a model; if it has external data, with all tensors in a file beside it, as a protobuf ends at 2 GB."""
    if not any(True for _ in external_tensors(model)):
        onnx_ir.save(model, path)
        return
    for graph in model.graphs():
        for value in [value for value in graph.initializers.values() if value.dtype == onnx_ir.DataType.STRING]:
            _make_constant(graph, value)
    onnx_ir.save(model, path, external_data=data_file(path).name)


def data_file(path: Path) -> Path:
    """Tell where `save_onnx` writes the tensors."""
    return path.with_name(f"{path.name}.data")


def _make_constant(graph: onnx_ir.Graph, value: onnx_ir.Value) -> None:
    """Make a Constant node of an initializer: strings cannot be external data."""
    node = onnx_ir.node("Constant", [], {"value": value.const_value}, name=value.name)
    (output,) = node.outputs
    output.type, output.shape = value.type, value.shape
    graph.initializers.pop(str(value.name))
    output.name = value.name
    value.replace_all_uses_with(output, replace_graph_outputs=True)
    graph.insert_before(graph[0], node) if len(graph) else graph.append(node)


@contextmanager
def temporary_file(model: onnx_ir.Model) -> Iterator[Path]:
    """Write a model to a file that is there until the block ends. Raises OSError.

    OpenVINO reads external data only from the folder of the model, links followed, and ONNX's checker refuses a file that has
    several hard links. So a model with external data is written beside them, and they are not copied. Where nothing can be
    written beside them, they are copied to TMPDIR with the model.
    """
    with ExitStack() as stack:
        path = _beside_data(model, stack)
        if path is None:
            path = stack.enter_context(scratch()) / "model.onnx"
            save_onnx(model, path)
        yield path


def _beside_data(model: onnx_ir.Model, stack: ExitStack) -> Path | None:
    """Write a file that `stack` removes; None where there are no external data, or nothing can be written beside them."""
    folders = {Path(tensor.base_dir) for tensor in external_tensors(model)}
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    inside = sum(tensor.nbytes for tensor in tensors if not (tensor is None or isinstance(tensor, onnx_ir.ExternalTensor)))
    if len(folders) != 1 or inside > MAXIMUM_INSIDE:
        return None
    try:
        descriptor, name = mkstemp(dir=folders.pop(), prefix=".ov_gather.", suffix=".onnx")
        os.close(descriptor)
        path = Path(name)
        stack.callback(path.unlink)
        onnx_ir.save(model, path)
    except OSError:
        return None
    return path
