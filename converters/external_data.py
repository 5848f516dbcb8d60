"""External data of ONNX models: its files, and checks of locations and sizes."""

from __future__ import annotations

from collections.abc import Iterator
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
    """Yield the initializers stored as external data."""
    values = (value for graph in model.graphs() for value in graph.initializers.values())
    return (value.const_value for value in values if isinstance(value.const_value, onnx_ir.ExternalTensor))


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
