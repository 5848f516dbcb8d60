"""An ONNX file without its weights, which are found in the file and never parsed: parsing would hold them in memory twice.

Only the tags and lengths that precede the fields of the model, its graph and its initializers are read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

SMALLEST = 1 << 10
"""Bytes of the smallest raw data that are left out. Shape inference sees the values of initializers up to 1,000 bytes."""
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
"""Numbers of the fields ModelProto.graph, GraphProto.initializer and TensorProto.raw_data."""
_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
"""Wire types of protobuf; those of a fixed size, with their bytes. The others are groups, which ONNX does not have."""


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A field of a message: where its tag starts, and where its value starts and ends."""

    number: int
    kind: int
    start: int
    value: int
    end: int

    def holds(self, number: int) -> bool:
        """Return True if the field has this number and holds bytes, as messages, texts and raw data do."""
        return self.number == number and self.kind == _BYTES


@contextmanager
def mapped(path: Path) -> Iterator[bytes | mmap]:
    """Yield the bytes of a file without reading them. Raises OSError."""
    with path.open("rb") as file:
        if not file.seek(0, 2):  # which cannot be mapped
            yield b""
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            yield data


def without_weights(data: bytes | mmap) -> tuple[onnx.ModelProto, list[slice | None]]:
    """Parse a model without the large raw data of its initializers; for each of these, return where its raw data is, or None.

    Raises DecodeError if the bytes are not a model.
    """
    places: list[slice | None] = []
    parts = [
        _message(_GRAPH, _graph(data, field, places)) if field.holds(_GRAPH) else data[field.start : field.end]
        for field in _fields(data, 0, len(data))
    ]
    return onnx.ModelProto.FromString(b"".join(parts)), places


def _graph(data: bytes | mmap, graph: _Encoded, places: list[slice | None]) -> bytes:
    """Return a graph without the large raw data of its initializers; add where it is, or None, to `places` for each."""
    parts = []
    for field in _fields(data, graph.value, graph.end):
        raw = _large_raw_data(data, field) if field.holds(_INITIALIZER) else None
        if field.holds(_INITIALIZER):
            places.append(slice(raw.value, raw.end) if raw else None)
        if raw:
            parts.append(_message(_INITIALIZER, data[field.value : raw.start] + data[raw.end : field.end]))
        else:
            parts.append(data[field.start : field.end])
    return b"".join(parts)


def _large_raw_data(data: bytes | mmap, tensor: _Encoded) -> _Encoded | None:
    """Return the raw data of a tensor if it is large; None if it is small, or stands several times: the last one counts."""
    found = [field for field in _fields(data, tensor.value, tensor.end) if field.holds(_RAW_DATA)]
    return found[0] if len(found) == 1 and found[0].end - found[0].value >= SMALLEST else None


def _fields(data: bytes | mmap, start: int, end: int) -> Iterator[_Encoded]:
    """Yield the fields of a message. Raises DecodeError."""
    while start < end:
        tag, value = _varint(data, start)
        number, kind = tag >> 3, tag & 7
        if kind == _BYTES:
            size, value = _varint(data, value)
            after = value + size
        elif kind == _VARINT:
            after = _varint(data, value)[1]
        elif kind in _FIXED:
            after = value + _FIXED[kind]
        else:
            raise DecodeError(f"wire type {kind} at byte {start}")
        if after > end:
            raise DecodeError(f"the field at byte {start} ends at byte {after}, behind its message, which ends at {end}")
        yield _Encoded(number, kind, start, value, after)
        start = after


def _varint(data: bytes | mmap, start: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, the lowest first, and where it ends. Raises DecodeError."""
    number = shift = 0
    for position in range(start, min(start + 10, len(data))):
        byte = data[position]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position + 1
        shift += 7
    raise DecodeError(f"the number at byte {start} does not end")


def _message(number: int, content: bytes) -> bytes:
    """Return a field that holds a message."""
    head, size = bytearray([number << 3 | _BYTES]), len(content)
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + content
