"""Weights of an ONNX file as external data of a temporary copy, so that they are mapped and never copied into memory.

Protobuf, the checker, onnx-ir and OpenVINO would each hold a copy of the weights in the file.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import onnx
import onnx_ir
from google.protobuf.descriptor import Descriptor  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx.external_data_helper import set_external_data

from ov_gather.system.files import scratch
from ov_gather.system.platforms import CAN_REMOVE_MAPPED_FILES

from .external_data import data_files
from .loading import OnnxSource

SMALLEST = 1 << 14
"""Bytes of the smallest tensor that is moved: larger ones hold nearly all weights of a model."""
_ALIGNMENT = 64
_DEEPEST = 100
"""Levels of messages that protobuf reads."""
# Fields that lead to tensors, by message. Training information and functions are copied as they are.
_INNER = {
    "ModelProto": ["graph"],
    "GraphProto": ["node", "initializer"],
    "NodeProto": ["attribute"],
    "AttributeProto": ["t", "g"],
}
_PLAIN = {"dims", "data_type", "name", "doc_string"}
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


class _UnusualError(Exception):
    """The file is no ONNX model, or has a form that this module leaves to others."""


@contextmanager
def weights_outside(source: OnnxSource) -> Iterator[OnnxSource]:
    """Yield the path of a copy of an ONNX file with its weights as external data, removed when the block ends.

    Yield the source itself if it is no file, has no large tensors or external data already, or is malformed, which is reported
    by those that read it whole; and on systems that cannot remove mapped files. Raises OSError.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if path is None or not CAN_REMOVE_MAPPED_FILES or not path.is_file() or path.stat().st_size < SMALLEST:
        yield source
        return
    with scratch() as folder:
        copy = folder / "model.onnx"
        yield copy if _move_weights(path, copy) else source


def _move_weights(path: Path, copy: Path) -> bool:
    """Write a copy without weights, and the weights beside it; return False if the file has another external data file."""
    with NamedTemporaryFile(dir=copy.parent, delete=False) as weights, path.open("rb") as file:  # no model can know its name
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        try:
            rest = _without_weights(content, onnx.ModelProto.DESCRIPTOR, weights, 0)
        except _UnusualError:
            return False
        if not weights.tell():
            return False
    copy.write_bytes(rest)
    return data_files(copy) == [Path(weights.name)]


def _without_weights(message: memoryview, kind: Descriptor, weights: IO[bytes], depth: int) -> bytes | memoryview:
    """Return a message whose large tensors are external data, after writing their bytes. Raises _UnusualError."""
    if kind is onnx.TensorProto.DESCRIPTOR:
        return _external(message, weights)
    if depth > _DEEPEST:
        raise _UnusualError
    inner = {kind.fields_by_name[name].number: kind.fields_by_name[name] for name in _INNER[kind.name]}
    parts: list[bytes | memoryview] = []
    kept, singular = 0, set()
    for number, start, content, end in _fields(message):
        field = inner.get(number)
        if field is None:
            continue
        if not field.is_repeated:
            if number in singular:
                raise _UnusualError  # protobuf merges both
            singular.add(number)
        if end - content >= SMALLEST:
            changed = _without_weights(message[content:end], field.message_type, weights, depth + 1)
            parts += [message[kept:start], _varint(number << 3 | _BYTES), _varint(len(changed)), changed]
            kept = end
    return b"".join([*parts, message[kept:]])


def _external(tensor: memoryview, weights: IO[bytes]) -> bytes | memoryview:
    """Return a tensor whose elements were written to the external data, if it has only the fields of a plain tensor."""
    found = [field for field in _fields(tensor) if field[0] == onnx.TensorProto.RAW_DATA_FIELD_NUMBER]
    if len(found) != 1:
        return tensor
    _, start, content, end = found[0]
    try:
        rest = onnx.TensorProto.FromString(b"".join((tensor[:start], tensor[end:])))
        size = prod(rest.dims) * onnx_ir.DataType(rest.data_type).bitwidth
    except (DecodeError, TypeError, ValueError) as error:
        raise _UnusualError from error
    is_plain = {field.name for field, _ in rest.ListFields()} <= _PLAIN and min(rest.dims, default=0) >= 0
    if not is_plain or -(-size // 8) != end - content:
        return tensor
    offset = -(-weights.tell() // _ALIGNMENT) * _ALIGNMENT
    weights.seek(offset)
    weights.write(tensor[content:end])
    rest.raw_data = b""  # set_external_data demands it
    set_external_data(rest, Path(weights.name).name, offset, end - content)
    rest.ClearField("raw_data")
    return bytes(rest.SerializeToString())


def _fields(message: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """Yield each field of a message: its number, and where it, its content and the next field start. Raises _UnusualError."""
    position, size = 0, len(message)
    while position < size:
        start = position
        tag, position = _read_varint(message, position)
        content = position
        wire = tag & 7
        if wire == _BYTES:
            length, content = _read_varint(message, position)
            position = content + length
        elif wire == _VARINT:
            _, position = _read_varint(message, position)
        elif wire in (_FOUR_BYTES, _EIGHT_BYTES):
            position += 4 if wire == _FOUR_BYTES else 8
        else:
            raise _UnusualError  # groups, which ONNX has not
        if position > size:
            raise _UnusualError
        yield tag >> 3, start, content, position


def _read_varint(message: memoryview, position: int) -> tuple[int, int]:
    """Return the number at a position, and the position after it. Raises _UnusualError."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(message):
            raise _UnusualError
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
    raise _UnusualError


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))
