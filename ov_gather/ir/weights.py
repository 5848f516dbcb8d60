"""The .bin of an IR: memory-mapped, every access bounds-checked."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType, by_name
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import MAX_DIMENSION, UNKNOWN, PartialShape, element_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Weights:
    """The payloads of a model's Consts: a file, mapped when first needed, or bytes in memory."""

    def __init__(self, source: str | Path | bytes | bytearray | memoryview | None) -> None:
        self.path = Path(source) if isinstance(source, str | Path) else None
        self._view = None if source is None or self.path else memoryview(source)  # type: ignore[arg-type]

    def view(self) -> memoryview:
        """All bytes. Raises OSError where the file cannot be read, FileNotFoundError where there is none."""
        if self._view is None:
            if self.path is None:
                raise FileNotFoundError("the model came without a .bin")
            if self.path.exists() and not self.path.is_file():
                raise OSError(0, "not a regular file")
            with self.path.open("rb") as file:
                empty = file.seek(0, 2) == 0
                self._view = memoryview(b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return self._view

    def __reduce__(self) -> tuple[type[Weights], tuple[Path | bytes | None]]:
        """To another process go the bytes in memory, or the path of the file."""
        in_memory = None if self._view is None else bytes(self._view)
        return Weights, (self.path or in_memory,)


def payload(model: Model, layer: Layer) -> memoryview:
    """The bytes of a Const, checked against the .bin and against what its shape and type need. Raises IRError."""
    try:
        offset, size = _integer(layer, "offset"), _integer(layer, "size")
        needed = _needed_bytes(layer.attributes.get("shape", ""), layer.attributes.get("element_type", ""))
    except ValueError as error:
        raise _error(model, layer, str(error)) from None
    if "value" in layer.attributes:
        raise _error(model, layer, "an inline value is not supported", "put the payload into the .bin")
    try:
        everything = (model.weights or Weights(None)).view()
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no .bin to read it from" if missing else f"its .bin cannot be read: {error.strerror}"
        hint = f"expected at {model.weights.path}" if model.weights and model.weights.path else "pass the weights"
        raise _error(model, layer, reason, hint, Fault.NO_WEIGHTS) from None
    if offset + size > len(everything):
        raise _error(
            model,
            layer,
            f"bytes {offset}..{offset + size} lie outside the .bin, which has {len(everything)}",
            "the .bin is truncated, belongs to another .xml, or offset or size is wrong",
            Fault.RANGE,
        )
    if size < needed:
        raise _error(
            model,
            layer,
            f"{size} bytes are too few: shape {layer.declared_shape} of {layer.declared_type} needs {needed}",
            "make size, shape and element_type agree",
        )
    return everything[offset : offset + size]


def constant(model: Model, layer: Layer) -> NDArray[Any]:
    """The value of a Const, read-only; numbers are not copied out of the .bin, strings are `str`.

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
                payload(model, layer)
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


def _error(model: Model, layer: Layer, reason: str, hint: str = "", fault: Fault = Fault.CONST) -> IRError:
    return IRError(fault, reason, path=model.path, line=layer.data_line, layer=str(layer), hint=hint)
