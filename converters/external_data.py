"""External data of ONNX models: its files, and checks of locations and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import onnx
import onnx_ir
from numpy.typing import NDArray
from onnx.external_data_helper import uses_external_data

from ov_gather.system.kinds import LFS_ADVICE, LFS_REASON, is_lfs_pointer

from .errors import ConversionError
from .weights import tensors_of

_COPIED = 1 << 21
"""Bytes of the largest constants that passes keep."""


def external_tensors(model: onnx_ir.Model) -> Iterator[onnx_ir.ExternalTensor]:
    """Yield the tensors stored as external data: initializers, and those in attributes, such as a Constant's value."""
    initializers = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    nodes = (node for graph in top_graphs(model) for node in graph.all_nodes())
    held = (tensor for node in nodes for attribute in node.attributes.values() for tensor in _tensors_of(attribute))
    return (tensor for tensor in (*initializers, *held) if isinstance(tensor, onnx_ir.ExternalTensor))


def top_graphs(model: onnx_ir.Model) -> list[onnx_ir.Graph]:
    """Return the main graph and those of functions, without their bodies."""
    return [model.graph, *(function.graph for function in model.functions.values())]


def _tensors_of(attribute: onnx_ir.Attr) -> Sequence[onnx_ir.TensorProtocol]:
    if attribute.type == onnx_ir.AttributeType.TENSOR and not attribute.is_ref():
        return [attribute.as_tensor()]
    if attribute.type == onnx_ir.AttributeType.TENSORS and not attribute.is_ref():
        return attribute.as_tensors()
    return []


class _Mapped(onnx_ir.ExternalTensor):
    """External data that is mapped only as long as an array of it exists: each mapping holds a file descriptor, and memory."""

    __slots__ = ()

    def numpy(self) -> NDArray[Any]:
        """Return the elements; few enough to be kept by many callers at once, as a copy."""
        array = super(_Mapped, copy(self)).numpy()
        return array.copy() if self.nbytes <= _COPIED else array


def unmap_unused(model: onnx_ir.Model) -> None:
    """Make external data mapped only while it is in use."""
    for graph in model.graphs():
        for value in graph.initializers.values():
            if isinstance(tensor := value.const_value, onnx_ir.ExternalTensor):
                value.const_value = _Mapped(
                    tensor.location,
                    tensor.offset,
                    tensor.length,
                    tensor.dtype,
                    shape=tensor.shape,
                    name=tensor.name,
                    doc_string=tensor.doc_string,
                    metadata_props=tensor.metadata_props,
                    base_dir=tensor.base_dir,
                )


def check_locations(proto: onnx.ModelProto, folder: Path) -> None:
    """Raise ConversionError if a tensor's file is outside the model's folder, links resolved, or an offset or length is bad.

    ONNX's checker tests some of this, only for models given by path, and never names the bad offset.
    """
    for tensor in filter(uses_external_data, tensors_of(proto)):
        entries = {entry.key: entry.value for entry in tensor.external_data}
        place, file = f"tensor '{tensor.name}'", folder / entries.get("location", "")
        if not file.resolve().is_relative_to(folder.resolve()):
            raise ConversionError(f"{place}: {file} is {file.resolve()}, which is outside the folder of the model")
        for key in ("offset", "length"):
            value = entries.get(key, "0")
            if not (value.isascii() and value.isdigit() and len(value) < 30):
                raise ConversionError(f"{place}: its {key} in {file} must be a number of bytes, 0 or more, not '{value}'")


def check_sizes(model: onnx_ir.Model) -> None:
    """Raise ConversionError if a file is too short for a tensor, or a tensor declares a wrong length."""
    for tensor in external_tensors(model):
        place, start = f"tensor '{tensor.name}'", tensor.offset or 0
        end, size = start + tensor.nbytes, Path(tensor.path).stat().st_size
        if end > size and is_lfs_pointer(tensor.path):
            raise ConversionError(f"{tensor.path}: {LFS_REASON}; {LFS_ADVICE}")
        if end > size:
            raise ConversionError(f"{place} ends at byte {end} of {tensor.path}, which has {size}; its offset is {start}")
        if tensor.length is not None and tensor.length != tensor.nbytes:
            raise ConversionError(f"{place}: its length in {tensor.path} is {tensor.length} bytes, but it has {tensor.nbytes}")
