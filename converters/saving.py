"""Saving of ONNX models: complete files for users, and temporary files for OpenVINO without a copy of external data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkstemp

import onnx_ir

from ov_gather.system.files import scratch

from .external_data import external_tensors

MAXIMUM_INSIDE = 1 << 30
"""Maximum bytes of tensors stored in a protobuf: half of its limit of 2 GB, which includes everything else."""


def save_onnx(model: onnx_ir.Model, path: Path) -> None:
    """Write a model. If it has external data, store all tensors in a file beside it, as a protobuf is limited to 2 GB."""
    if not any(True for _ in external_tensors(model)):
        onnx_ir.save(model, path)
        return
    for graph in model.graphs():
        for value in [value for value in graph.initializers.values() if value.dtype == onnx_ir.DataType.STRING]:
            _make_constant(graph, value)
    onnx_ir.save(model, path, external_data=data_file(path).name)


def data_file(path: Path) -> Path:
    """Return the path at which `save_onnx` stores tensors."""
    return path.with_name(f"{path.name}.data")


def _make_constant(graph: onnx_ir.Graph, value: onnx_ir.Value) -> None:
    """Replace an initializer of strings by a Constant node: strings cannot be external data."""
    node = onnx_ir.node("Constant", [], {"value": value.const_value}, name=value.name)
    (output,) = node.outputs
    output.type, output.shape = value.type, value.shape
    graph.initializers.pop(str(value.name))
    output.name = value.name
    value.replace_all_uses_with(output, replace_graph_outputs=True)
    graph.insert_before(graph[0], node) if len(graph) else graph.append(node)


@contextmanager
def temporary_file(model: onnx_ir.Model) -> Iterator[Path]:
    """Write a model to a file that is removed when the block ends. Raises OSError.

    OpenVINO reads external data only from the model's folder, links resolved, and ONNX's checker refuses files with several
    hard links. So a model with external data is written beside that data, without a copy of it. If that is impossible, both are
    written to TMPDIR.
    """
    with ExitStack() as stack:
        path = _beside_data(model, stack)
        if path is None:
            path = stack.enter_context(scratch()) / "model.onnx"
            save_onnx(model, path)
        yield path


def _beside_data(model: onnx_ir.Model, stack: ExitStack) -> Path | None:
    """Write the model beside its external data, to a file that `stack` removes; return None if that is impossible."""
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
