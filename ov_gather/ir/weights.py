"""The .bin of an IR: read where it is needed, every access bounds-checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType, by_name
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import MAX_DIMENSION, UNKNOWN, PartialShape, element_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Weights:
    """The payloads of a model's Consts: a file, or bytes in memory.

    The file is read, not mapped: who touches a mapping of a file that has been cut since is killed by the system.
    """

    def __init__(self, source: str | Path | bytes | bytearray | memoryview | None) -> None:
        self.path = Path(source) if isinstance(source, str | Path) else None
        self._memory = None if source is None or self.path else memoryview(source)  # type: ignore[arg-type]
        self._file: IO[bytes] | None = None
        self._size_at_first = 0

    def size(self) -> int:
        """How many bytes there are now. Raises OSError where the file cannot be read, FileNotFoundError where there is none."""
        return os.fstat(self._opened()).st_size if self._memory is None else len(self._memory)

    def read(self, offset: int, size: int) -> memoryview:
        """Some of the bytes. Raises OSError as `size` does, EOFError where the file ends before."""
        if self._memory is not None:
            return self._memory[offset : offset + size]
        descriptor, parts, left = self._opened(), [], size
        while left:  # more than once beyond 2 GB
            parts.append(os.pread(descriptor, left, offset + size - left))
            if not parts[-1]:
                raise EOFError
            left -= len(parts[-1])
        return memoryview(parts[0] if len(parts) == 1 else b"".join(parts))

    def was_cut(self) -> bool:
        """Whether the file is shorter now than when it was first looked at."""
        return self._file is not None and self.size() < self._size_at_first

    def _opened(self) -> int:
        if self._file is None:
            if self.path is None:
                raise FileNotFoundError("the model came without a .bin")
            if self.path.exists() and not self.path.is_file():
                raise OSError(0, "not a regular file")
            self._file = self.path.open("rb", buffering=0)
            self._size_at_first = os.fstat(self._file.fileno()).st_size
        return self._file.fileno()

    def __reduce__(self) -> tuple[type[Weights], tuple[Path | bytes | None]]:
        """To another process go the bytes in memory, or the path of the file."""
        in_memory = None if self._memory is None else bytes(self._memory)
        return Weights, (self.path or in_memory,)


def payload(model: Model, layer: Layer) -> memoryview:
    """The bytes of a Const, checked as `check_payload` does. Raises IRError."""
    offset, size = check_payload(model, layer)
    weights = model.weights or Weights(None)
    try:
        return weights.read(offset, size)
    except EOFError:
        raise _outside(model, layer, offset, size, weights.size()) from None
    except OSError as error:
        raise _unreadable(model, layer, error) from None


def check_payload(model: Model, layer: Layer) -> tuple[int, int]:
    """Where a Const has its bytes, offset and size, checked against the .bin and against what its shape and type need.

    Raises IRError. Nothing is read.
    """
    try:
        offset, size = _integer(layer, "offset"), _integer(layer, "size")
        needed = _needed_bytes(layer.attributes.get("shape", ""), layer.attributes.get("element_type", ""))
    except ValueError as error:
        raise _error(model, layer, str(error)) from None
    if "value" in layer.attributes:
        raise _error(model, layer, "an inline value is not supported", "put the payload into the .bin")
    try:
        total = (model.weights or Weights(None)).size()
    except OSError as error:
        raise _unreadable(model, layer, error) from None
    if offset + size > total:
        raise _outside(model, layer, offset, size, total)
    if size < needed:
        raise _error(
            model,
            layer,
            f"{size} bytes are too few: shape {layer.declared_shape} of {layer.declared_type} needs {needed}",
            "make size, shape and element_type agree",
        )
    return offset, size


def constant(model: Model, layer: Layer) -> NDArray[Any]:
    """The value of a Const, read-only and as its .bin has it now; strings are `str`.

    Raises:
        IRError: the payload is outside the .bin, too small, or malformed; or the element type has no NumPy dtype.
    """
    import numpy as np

    data = payload(model, layer)
    shape, element_type = layer.declared_shape, layer.declared_type
    assert shape is not None and element_type is not None  # payload() has checked them
    sizes = shape.sizes
    count = element_count(sizes)
    if element_type is STRING:
        values = np.empty(count, object)
        values[:] = list(_strings(model, layer, data, count))
    elif element_type is BOOLEAN:
        values = np.frombuffer(data, np.uint8, count) != 0
    elif element_type.bits % 8 == 0:
        values = np.frombuffer(data, _dtype(model, layer, element_type), count)
    else:
        packed = np.frombuffer(data, np.uint8, element_type.byte_size(count))
        values = unpack_bits(packed, element_type.bits, count).view(_dtype(model, layer, element_type))
    values.flags.writeable = False
    try:
        return values.reshape(sizes)
    except ValueError as error:
        raise _error(model, layer, f"shape {shape}: {error}") from None


def check_constants(model: Model) -> Iterator[IRError]:
    """Every Const of the model and of its bodies whose payload cannot be had."""
    for layer in model.layers:
        if layer.type == "Const":
            try:
                check_payload(model, layer)
            except IRError as error:
                yield error
        for body in layer.bodies:
            yield from check_constants(body)


def pack_strings(values: NDArray[Any]) -> bytes:
    """The payload of a string Const: count, offsets and UTF-8 bytes."""
    import numpy as np

    encoded = [str(value).encode() for value in values.ravel()]
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])])
    return np.array([len(encoded), *offsets], "<i4").tobytes() + b"".join(encoded)


def pack_bits(values: NDArray[Any], bits: int) -> bytes:
    """The payload of a Const whose elements are smaller than a byte: first element in the lowest bits."""
    import numpy as np

    per_byte = 8 // bits
    parts = np.zeros(-(-values.size // per_byte) * per_byte, np.uint8)
    parts[: values.size] = values.ravel().view(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return bytes(np.bitwise_or.reduce(parts.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8))


def unpack_bits(packed: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """`count` elements of 1, 2 or 4 bits, one per byte, from packed bytes."""
    import numpy as np

    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    parts: NDArray[np.uint8] = (packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(-1)[:count].copy()


def _strings(model: Model, layer: Layer, data: memoryview, count: int) -> Iterator[str]:
    import numpy as np

    header = np.frombuffer(data[: 4 * (count + 2)], "<i4")
    offsets = header[1:].astype(np.int64)
    text = data[4 * (count + 2) :]
    if header[0] != count:
        raise _error(model, layer, f"the payload holds {header[0]} strings, the shape {count}")
    if offsets[0] != 0 or (np.diff(offsets) < 0).any() or offsets[-1] > len(text):
        raise _error(model, layer, "the offsets of the packed strings do not rise from 0 to the end of the payload")
    for start, end in pairwise(offsets):
        try:
            yield str(text[start:end], "utf-8")
        except UnicodeDecodeError:
            raise _error(model, layer, "a packed string is not UTF-8") from None


def _dtype(model: Model, layer: Layer, element_type: ElementType) -> np.dtype[Any]:
    try:
        return element_type.dtype
    except TypeError as error:
        raise _error(model, layer, str(error)) from None


def _integer(layer: Layer, name: str) -> int:
    text = layer.attributes.get(name)
    if text is None:
        raise ValueError(f"attribute {name} is missing")
    number = parse_digits(text)
    if number is None:
        raise ValueError(f"{name}='{text}' is not a number of bytes")
    return number


@lru_cache(maxsize=256)  # many layers have the same
def _needed_bytes(shape_text: str, type_text: str) -> int:
    try:
        shape = PartialShape.parse(shape_text)
    except ValueError:
        shape = UNKNOWN
    if not shape.is_static:
        raise ValueError(f"shape='{shape_text}' is not a static shape")
    element_type = by_name(type_text)
    if element_type is None or element_type.name == "dynamic":
        raise ValueError(f"element_type='{type_text}' is not the type of a constant")
    count = element_count(shape.sizes)
    if count > MAX_DIMENSION:
        raise ValueError(f"shape='{shape_text[:40]}' makes more than 2^63-1 elements")
    # Packed strings: the count and one offset more than there are strings, four bytes each.
    return 4 * (count + 2) if element_type is STRING else element_type.byte_size(count)


def _unreadable(model: Model, layer: Layer, error: OSError) -> IRError:
    missing = isinstance(error, FileNotFoundError)
    reason = "there is no .bin to read it from" if missing else f"its .bin cannot be read: {error.strerror}"
    hint = f"expected at {model.weights.path}" if model.weights and model.weights.path else "pass the weights"
    return _error(model, layer, reason, hint, Fault.NO_WEIGHTS)


def _outside(model: Model, layer: Layer, offset: int, size: int, total: int) -> IRError:
    return _error(
        model,
        layer,
        f"bytes {offset}..{offset + size} lie outside the .bin, which has {total}",
        "the .bin is truncated, belongs to another .xml, or offset or size is wrong",
        Fault.RANGE,
    )


def _error(model: Model, layer: Layer, reason: str, hint: str = "", fault: Fault = Fault.CONST) -> IRError:
    return IRError(fault, reason, path=model.path, line=layer.data_line, layer=str(layer), hint=hint)
