"""Payloads and values of Consts. Every access to the .bin is bounds-checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType, by_name
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import MAX_DIMENSION, UNKNOWN, PartialShape, element_count
from ov_gather.ir.weights import Weights, unpack_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def payload(model: Model, layer: Layer) -> memoryview:
    """Return the bytes of a Const, after the checks of `check_payload`. Raises IRError."""
    offset, size = check_payload(model, layer)
    weights = model.weights or Weights(None)
    try:
        return weights.read(offset, size)
    except EOFError:
        raise _outside(model, layer, offset, size, weights.size()) from None
    except OSError as error:
        raise _unreadable(model, layer, error) from None


def payloads(model: Model) -> Iterator[memoryview]:
    """Yield the bytes of each Const of a model and of its bodies. Raises IRError."""
    return (payload(graph, layer) for _, graph in model.walk() for layer in graph.of_type("Const"))


def check_payload(model: Model, layer: Layer) -> tuple[int, int]:
    """Return the offset and size of a Const's bytes, checked against the .bin and against shape and type. Reads no bytes.

    Raises IRError if they do not fit.
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
        reason = f"{size} bytes are too few: shape {layer.declared_shape} of {layer.declared_type} needs {needed}"
        raise _error(model, layer, reason, "make size, shape and element_type agree")
    return offset, size


def needed_size(layer: Layer) -> int | None:
    """Return how many bytes the shape and the element type of a Const need; None if that is not known."""
    shape, element_type = layer.declared_shape, layer.declared_type
    if shape is None or not shape.is_static or element_type is None or not element_type.bits:
        return None
    return max(element_type.byte_size(element_count(shape.sizes)), 1)  # a Const without elements owns one byte


def has_other_size(layer: Layer) -> bool:
    """Return True for a Const whose shape is open, or needs another size with its type, which the rules 5xx report."""
    shape = layer.declared_shape if layer.type == "Const" else None
    if shape is None or not shape.is_static:
        return shape is not None
    needed = needed_size(layer)
    return needed is not None and parse_digits(layer.attributes.get("size", "")) not in (None, needed)


def constant(model: Model, layer: Layer) -> NDArray[Any]:
    """Return the value of a Const as a read-only array, from the current .bin. Strings are `str` objects.

    Raises:
        IRError: the payload is outside the .bin, too small, or malformed; or the element type has no NumPy dtype.
    """
    import numpy as np

    data = payload(model, layer)
    shape, element_type = layer.declared_shape, layer.declared_type
    assert shape is not None and element_type is not None  # payload() checks both
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
    """Yield an error for every Const of the model and its bodies whose payload is missing or does not fit."""
    for subgraph_path, graph in model.walk():
        for layer in graph.of_type("Const"):
            try:
                check_payload(graph, layer)
            except IRError as error:
                error.location = replace(error.location, subgraph_path=subgraph_path)
                yield error


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


@lru_cache(maxsize=256)  # many layers have the same shape and type
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
    # Packed strings begin with their count and count + 1 offsets, four bytes each.
    return 4 * (count + 2) if element_type is STRING else element_type.byte_size(count)


def _unreadable(model: Model, layer: Layer, error: OSError) -> IRError:
    missing = isinstance(error, FileNotFoundError)
    reason = "there is no .bin to read it from" if missing else f"its .bin cannot be read: {error.strerror}"
    hint = f"expected at {model.weights.path}" if model.weights and model.weights.path else "pass the weights"
    return _error(model, layer, reason, hint, Fault.NO_WEIGHTS)


def _outside(model: Model, layer: Layer, offset: int, size: int, total: int) -> IRError:
    reason = f"bytes {offset}..{offset + size} lie outside the .bin, which has {total}"
    hint = "the .bin is truncated, belongs to another .xml, or offset or size is wrong"
    return _error(model, layer, reason, hint, Fault.RANGE)


def _error(model: Model, layer: Layer, reason: str, hint: str = "", fault: Fault = Fault.CONST) -> IRError:
    return IRError(fault, reason, Location(model.path, layer.data_line, layer.id, layer.name, layer.type), hint)
