"""Comparison of constants. Payloads are read in chunks, so that large ones need little memory."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import permutations
from typing import TYPE_CHECKING, Any

from ov_gather.ir.constants import check_payload, constant
from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.shapes import element_count
from ov_gather.ir.weights import Weights, unpack_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PART = 1 << 23
"""Chunk size in bytes; a whole number of elements of every type."""
_MOST_AXES = 6
"""Most axes of a constant that may be a transposed one: 720 orders."""
_FEW = 8
"""Up to this many elements are shown one by one."""

Key = tuple[str, tuple[int, ...], bytes]
"""The identity of a Const's value: element type, shape and a hash of the bytes."""


class Content:
    """Cache of payload hashes; several Consts may share a payload."""

    def __init__(self) -> None:
        self._digests: dict[tuple[int, int, int], bytes] = {}

    def key(self, model: Model, layer: Layer) -> Key:
        """Return the identity of a Const's value. Raises IRError if the payload cannot be read."""
        element_type, sizes, offset, size = _described(model, layer)
        place = id(model.weights), offset, size
        if place not in self._digests:
            digest = sha256()
            for part in _parts(model, offset, size):
                digest.update(part)
            self._digests[place] = digest.digest()
        return element_type.name, sizes, self._digests[place]


def _described(model: Model, layer: Layer) -> tuple[ElementType, tuple[int, ...], int, int]:
    """Return the type and shape of a Const, and the offset and size of the bytes that its elements occupy."""
    offset, size = check_payload(model, layer)
    shape, element_type = layer.declared_shape, layer.declared_type
    assert shape is not None and element_type is not None  # check_payload checks both
    needed = size if element_type is STRING else element_type.byte_size(element_count(shape.sizes))
    return element_type, shape.sizes, offset, needed


def _parts(model: Model, offset: int, size: int) -> Iterator[memoryview]:
    weights = model.weights or Weights(None)
    for start in range(offset, offset + size, _PART):
        yield weights.read(start, min(_PART, offset + size - start))


def contrast(model_a: Model, a: Layer, model_b: Model, b: Layer) -> tuple[str, str, str]:
    """Describe two unequal Consts and how they differ: all elements if they are few, else the first that differs."""
    import numpy as np

    type_a, sizes_a, offset_a, size_a = _described(model_a, a)
    type_b, sizes_b, offset_b, size_b = _described(model_b, b)
    count = element_count(sizes_a)
    if type_a == type_b and (order := _order(model_a, a, model_b, b)):
        return constant_text(model_a, a), constant_text(model_b, b), f"the same, transposed by {list(order)}"
    if (type_a, sizes_a) != (type_b, sizes_b) or count <= _FEW or _is_packed_by_three(type_a):
        return constant_text(model_a, a), constant_text(model_b, b), ""
    differing, of_nan, first, texts = 0, 0, 0, ("", "")
    if type_a is STRING:
        values = constant(model_a, a).ravel(), constant(model_b, b).ravel()
        places = np.flatnonzero(values[0] != values[1])
        first, differing = int(places[0]), len(places)
        texts = repr(values[0][first]), repr(values[1][first])
    else:
        start = 0
        for part_a, part_b in zip(_parts(model_a, offset_a, size_a), _parts(model_b, offset_b, size_b), strict=True):
            elements = [_elements(part, type_a, count - start) for part in (part_a, part_b)]
            unequal = np.flatnonzero((elements[0] != elements[1]).any(axis=1))
            if len(unequal) and not differing:
                first = start + int(unequal[0])
                texts = _value(elements[0][unequal[0]], type_a), _value(elements[1][unequal[0]], type_b)
            differing += len(unequal)
            of_nan += int((_is_nan(elements[0][unequal], type_a) & _is_nan(elements[1][unequal], type_a)).sum())
            start += len(elements[0])
    position = [int(i) for i in np.unravel_index(first, sizes_a)]
    nan = f"; {of_nan} of these are NaN on both sides" if of_nan else ""
    return *texts, f"{differing} of {count} elements differ, the first at {position}{nan}"


def _order(model_a: Model, a: Layer, model_b: Model, b: Layer) -> tuple[int, ...] | None:
    """Return the axes of the first Const in the order in which they make the second one; None if none do."""
    import numpy as np

    element_type, sizes_a, offset_a, size_a = _described(model_a, a)
    _, sizes_b, offset_b, size_b = _described(model_b, b)
    if len(sizes_a) > _MOST_AXES or element_type is STRING or _is_packed_by_three(element_type):
        return None
    _, *orders = permutations(range(len(sizes_a)))  # the first one leaves the axes as they are
    orders = [order for order in orders if tuple(sizes_a[axis] for axis in order) == sizes_b]
    if not orders or not element_count(sizes_a):
        return None
    arrays = []
    for model, sizes, offset, size in ((model_a, sizes_a, offset_a, size_a), (model_b, sizes_b, offset_b, size_b)):
        payload = (model.weights or Weights(None)).read(offset, size)
        arrays.append(_elements(payload, element_type, element_count(sizes)).reshape(*sizes, -1))
    return next((order for order in orders if np.array_equal(arrays[0].transpose(*order, -1), arrays[1])), None)


def constant_text(model: Model, layer: Layer) -> str:
    """Describe a Const by its type and shape, and by its elements if they are few."""
    element_type, sizes, offset, size = _described(model, layer)
    head = f"{element_type.name}{list(sizes)}"
    if element_count(sizes) > _FEW or _is_packed_by_three(element_type):
        return head
    if element_type is STRING:
        values = [repr(value) for value in constant(model, layer).ravel()]
    else:
        payload = b"".join(_parts(model, offset, size))
        values = [_value(row, element_type) for row in _elements(memoryview(payload), element_type, element_count(sizes))]
    return f"{head} {', '.join(values)}".rstrip()


def _elements(part: memoryview, element_type: ElementType, count: int) -> NDArray[Any]:
    """Return the elements of a chunk as rows of bytes, at most `count` of them."""
    import numpy as np

    packed = np.frombuffer(part, np.uint8)
    if element_type.bits in (1, 2, 4):
        return unpack_bits(packed, element_type.bits, min(count, len(packed) * 8 // element_type.bits))[:, None]
    return packed.reshape(-1, element_type.bits // 8)


def _is_nan(rows: NDArray[Any], element_type: ElementType) -> NDArray[Any]:
    """Return which elements are NaN."""
    import numpy as np

    if not element_type.name.startswith(("f", "bf")) or element_type.bits < 8 or not element_type.numpy_name:
        return np.zeros(len(rows), bool)
    found: NDArray[Any] = np.isnan(rows.view(element_type.dtype)[:, 0])
    return found


def _is_packed_by_three(element_type: ElementType) -> bool:
    return element_type.bits in (3, 6)


def _value(row: NDArray[Any], element_type: ElementType) -> str:
    """Format an element as a number, or as its bytes if NumPy has no such type."""
    if element_type is BOOLEAN:
        return str(bool(row[0]))
    return str(row.view(element_type.dtype)[0]) if element_type.numpy_name else f"0x{row.tobytes()[::-1].hex()}"
