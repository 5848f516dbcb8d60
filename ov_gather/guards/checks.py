"""The checks of a request that `ov_gather.guard` makes. They need NumPy alone: guard.py files contain a copy of this text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file. Raises OSError."""
    found = sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def check_names(feed: Any, names: Sequence[str]) -> None:
    """Raise ValueError unless a feed is a dict with these inputs and no others."""
    if not isinstance(feed, Mapping):
        raise ValueError(f"a feed must be a dict of arrays by input name, not {type(feed).__name__}")
    if len(feed) == len(names) and all(name in feed for name in names):
        return
    missing = [name for name in names if name not in feed]
    known = {*names}
    for name in feed:
        if name not in known:
            close = get_close_matches(str(name)[:_LONG], missing or names, n=1, cutoff=0.5)
            meant = f"did you mean {close[0]!r}?" if close else f"there are {_listed(names)}"
            raise ValueError(f"the model has no input {_short(name)}: {meant}")
    raise ValueError(f"input {missing[0]!r} is missing: the feed has {_listed(feed)}")


_LONG = 100
"""Characters of a name that a message shows, and names of a list: those of a feed may be any."""


def _short(name: Any) -> str:
    return repr(f"{name[:_LONG]}..." if isinstance(name, str) and len(name) > _LONG else name)


def _listed(names: Collection[Any]) -> str:
    shown = ", ".join(map(_short, islice(names, _LONG)))
    return f"{shown} and {len(names) - _LONG} more" if len(names) > _LONG else shown or "none"


def array_of(name: str, value: Any, kind: str, dims: Sequence[tuple[int, int]] | None) -> np.ndarray[Any, Any]:
    """Return an input as an array. Raise ValueError if it is of another kind, or a size is not in `dims`.

    `kind` is the name of the dtype, "str" for strings, or "" if it is not checked. `dims` has the least and the greatest size
    of each axis, and is None for any rank.
    """
    array, given = _viewed(name, value, kind)
    if given != kind:
        raise ValueError(f"input {name!r} has type {given}, but the model takes {kind}")
    if dims is not None and (
        array.ndim != len(dims) or not all(low <= size <= high for size, (low, high) in zip(array.shape, dims, strict=True))
    ):
        sizes = ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in dims)
        raise ValueError(f"input {name!r} has shape {array.shape}, but the model takes ({sizes}{',' * (len(dims) == 1)})")
    if array.size > 2147483647:
        raise ValueError(f"input {name!r} has {array.size} elements, more than 2147483647")
    return array


def _viewed(name: str, value: Any, kind: str) -> tuple[np.ndarray[Any, Any], str]:
    """Return an array and its kind. Raise ValueError for what is no array or tensor.

    Other objects that NumPy can convert are none: the model might get other data than those that were checked.
    """
    is_tensor = _is_tensor(value, "openvino")
    is_array = isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.ma.MaskedArray)
    if not (is_tensor or is_array or _is_tensor(value, "torch")):
        raise ValueError(f"input {name!r} must be an array, not {type(value).__name__}: give a NumPy array")
    element_type = value.element_type.get_type_name() if is_tensor else ""
    if not kind:  # elements of less than a byte: only the shape counts
        return np.broadcast_to(np.uint8(0), tuple(value.shape)), ""
    try:
        array = np.asarray((value.str_data if element_type == "string" else value.data) if is_tensor else value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"input {name!r} cannot be read as an array: {error}") from None
    if element_type in _DECODED:  # NumPy lacks these types
        decode, dtype = _DECODED[element_type]
        return decode(array), dtype
    if array.dtype.kind in "SUT" or (array.dtype.kind == "O" and all(isinstance(one, str | bytes) for one in array.flat)):
        return array, "str"
    return array, array.dtype.name if array.dtype.isnative else f"{array.dtype} of another byte order"


def _from_e4m3(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the numbers of f8e4m3: the exponent of f16, which has the same place, is larger by 8."""
    sizes = ((bits & 127).astype(np.uint16) << 7).view(np.float16).astype(np.float32) * 256
    return np.where(bits & 127 == 127, np.nan, np.copysign(sizes, bits.view(np.int8)))


_DECODED: dict[str, tuple[Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], str]] = {
    "bf16": (lambda bits: (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32), "bfloat16"),
    "f8e4m3": (_from_e4m3, "float8_e4m3fn"),
    "f8e5m2": (lambda bits: (bits.astype(np.uint16) << 8).view(np.float16), "float8_e5m2"),
    "f8e8m0": (lambda bits: np.where(bits == 255, np.nan, np.exp2(bits.astype(np.float64) - 127)), "float8_e8m0fnu"),
}
"""How to read the bits of types that NumPy lacks, and the names of their dtypes, by OpenVINO's names."""


def _is_tensor(value: Any, package: str) -> bool:
    """Return True for a tensor of a package, which need not be installed."""
    tensor = getattr(sys.modules.get(package), "Tensor", None)
    return isinstance(tensor, type) and issubclass(type(value), tensor)


def check_equal(one: str, size: int, other: str, other_size: int) -> None:
    """Raise ValueError unless two sizes that the model names alike are equal."""
    if size != other_size:
        raise ValueError(f"{one} = {size} and {other} = {other_size} differ, but the model has one size for both")


def check_size(text: str, size: int, low: float, high: float, needs: str) -> None:
    """Raise ValueError unless a size, or a product of sizes, lies between bounds."""
    if not low <= size <= high:
        raise ValueError(f"{text} = {size} is out of bounds (valid {_range(low, high)}): {needs}")


Spans = Sequence[tuple[int, int, int, int]]
"""A part of an array: for some axes the axis, start, stop and step of a slice."""


def part_of(array: np.ndarray[Any, Any], spans: Spans) -> np.ndarray[Any, Any]:
    """Return a part of an array."""
    slices = [slice(None)] * array.ndim
    for axis, start, stop, step in spans:
        slices[axis] = slice(start, stop, step)
    return array[tuple(slices)] if spans else array


def check_elements(name: str, array: np.ndarray[Any, Any], low: float, high: float, needs: str, spans: Spans = ()) -> None:
    """Raise ValueError unless all elements, or those of a part, lie between bounds. NaN does not."""
    found = first_outside(part_of(array, spans), low, high)
    if found is not None:
        place = list(found)
        for axis, start, stop, step in spans:
            place[axis] = range(array.shape[axis])[start:stop:step][place[axis]]
        where = f"[{', '.join(map(str, place))}]" if place else ""
        valid = "any number" if (low, high) == (-np.inf, np.inf) else _range(low, high)
        raise ValueError(f"{name}{where} = {array[tuple(place)]} is out of bounds (valid {valid}): {needs}")


def first_outside(array: np.ndarray[Any, Any], low: float, high: float) -> tuple[int, ...] | None:
    """Return the position of the first element that is not between bounds; None if all are. NaN is not."""
    if array.size == 0:
        return None
    if array.dtype.kind == "b":
        array = array.view(np.uint8)  # a byte of a boolean may be neither 0 nor 1
    elif array.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):  # NaN
            array = array.astype(np.float64)
    if low <= array.min().item() and array.max().item() <= high:  # false for NaN
        return None
    bounds = (low, high) if array.dtype.kind in "iu" else (np.float64(low), np.float64(high))
    outside = ~((array >= bounds[0]) & (array <= bounds[1]))
    return tuple(int(at) for at in np.unravel_index(np.argmax(outside), array.shape))


def _range(low: float, high: float) -> str:
    return f"{'' if low == -np.inf else low}..{'' if high == np.inf else high}"
