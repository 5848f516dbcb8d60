"""Calls of a compiled ONNX model: its ports, arrays by name or position, and the dict of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class CallPort:
    """An input or output as the model declares it.

    Attributes:
        element_type: ONNX's name, such as "float" or "int64"; empty if undeclared.
        shape: a size, a name or None for each dimension; None for an unknown rank.
    """

    name: str
    element_type: str
    shape: tuple[int | str | None, ...] | None

    def __str__(self) -> str:
        dims = "..." if self.shape is None else ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{self.name}: {self.element_type or '?'}[{dims}]"


def port_of(value: onnx_ir.Value) -> CallPort:
    """Return the declaration of an input or output."""
    dims = None if value.shape is None else tuple(dim if isinstance(dim, int) else dim.value for dim in value.shape)
    return CallPort(str(value.name), "" if value.dtype is None else value.dtype.name.lower(), dims)


class Outputs(dict[str, NDArray[Any]]):
    """Arrays by output name, in order; positions also work as keys, as in OpenVINO's results."""

    def __missing__(self, key: object) -> NDArray[Any]:
        if isinstance(key, int) and -len(self) <= key < len(self):
            return self.to_tuple()[key]
        known = f"{_quoted(self)}, and positions 0..{len(self) - 1}"
        raise (IndexError if isinstance(key, int) else KeyError)(f"there is no output {key!r}; there are {known}")

    def to_tuple(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays in the order of the outputs."""
        return tuple(self.values())


def arrays_by_name(
    names: Sequence[str], needed: Sequence[str], arrays: Sequence[Any], named: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the arrays of a call by input name: from a dict, by position or by keyword. No needed input is missing.

    Raises TypeError for a call that does not fit the inputs, and ValueError for a dict that does not.
    """
    if arrays and isinstance(arrays[0], Mapping):
        if len(arrays) > 1 or named:
            raise TypeError(f"beside a dict of all inputs nothing else is given; the inputs are {_quoted(names)}")
        (given,) = arrays
        if not set(needed) <= given.keys() <= set(names):
            raise ValueError(f"the inputs are {_quoted(names)}, not {_quoted(given)}")
        return dict(given)
    if len(arrays) > len(names):
        raise TypeError(f"{len(arrays)} arrays are given, but there are {len(names)} inputs: {_quoted(names)}")
    by_position = dict(zip(names, arrays, strict=False))
    for what, some in (
        ("there is no input", [name for name in named if name not in names]),
        ("an array is given by position and by keyword for", [name for name in named if name in by_position]),
        ("no array is given for", [name for name in needed if name not in by_position and name not in named]),
    ):
        if some:
            raise TypeError(f"{what} {_quoted(some)}; the inputs are {_quoted(names)}")
    return {**by_position, **named}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
