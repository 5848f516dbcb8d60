"""Attributes of operations: their kinds, how a document writes them, and their valid values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import BLANKS, PartialShape
from ov_gather.ops.fields import check

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shapes = Sequence[PartialShape]
Attributes = Mapping[str, Any]

BOOLEANS = ("true", "false", "1", "0")  # case-insensitive
FLOAT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?(inf|nan)", re.ASCII | re.IGNORECASE)


def parse_integer(text: str) -> int:
    """Parse a decimal integer without surrounding blanks. Raises ValueError."""
    number = parse_digits(text.removeprefix("-"))
    if number is None:
        raise ValueError(f"'{text[:40]}' is not an integer")
    return -number if text.startswith("-") else number


def parse_float(text: str) -> float:
    """Parse a decimal number, inf or nan, without surrounding blanks. Raises ValueError."""
    if not FLOAT.fullmatch(text):
        raise ValueError(f"'{text[:40]}' is not a number")
    return float(text)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an operation.

    Attributes:
        default: its value if the document omits it. None means that it is required.
        required: whether the specification requires it although OpenVINO has a default.
        valid_range: the lowest and the highest valid number, or a function that returns them for the input shapes, and None
            while the shapes leave them open.
        kind: "int", "bool", "float", "ints", "floats", "str", or the valid words, separated by "|". The values are int, bool,
            float, tuples of these, and str.
        examples: further valid values for `ov-gather check`, which makes up values of most kinds, but not of "str".
    """

    name: str
    default: Any = None
    required: bool = False
    valid_range: tuple[float, float] | Callable[[Shapes], tuple[float, float] | None] | None = None
    kind: str = "int"
    examples: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Raise OperationError for a field that is wrong, such as a default of another kind or out of range."""
        if self.default is None:
            object.__setattr__(self, "required", True)
        check(self)

    def parse(self, text: str) -> Any:
        """Parse the value of this attribute. Raises ValueError."""
        if self.kind in ("ints", "floats"):
            one = parse_integer if self.kind == "ints" else parse_float
            return tuple(one(part.strip(BLANKS)) for part in text.split(",")) if text else ()
        if self.kind == "int":
            return parse_integer(text)
        if self.kind == "float":
            return parse_float(text)
        if self.kind == "str":
            return text
        words = BOOLEANS if self.kind == "bool" else tuple(self.kind.split("|"))
        if text.lower() not in words:
            raise ValueError(f"'{text[:40]}' is not one of {', '.join(words)}")
        return text.lower() in ("true", "1") if self.kind == "bool" else text.lower()

    def text(self, value: Any) -> str:
        """Return the text of a value in a document."""
        if isinstance(value, tuple):
            return ",".join(map(str, value))
        return str(value).lower() if self.kind == "bool" else str(value)

    def read(self, text: Mapping[str, str], shapes: Shapes) -> Any:
        """Return the value of this attribute from a layer's attribute texts, or its default. Raises ValueError."""
        if self.name not in text and self.required:
            raise ValueError(f"attribute {self.name} is missing")
        try:
            value = self.parse(text[self.name]) if self.name in text else self.default
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        return self._in_range(value, shapes)

    def of_value(self, value: NDArray[Any], shapes: Shapes) -> int:
        """Return the value of this attribute from a constant input. Raises ValueError."""
        if value.size != 1 or value.dtype.kind not in "iu":
            raise ValueError(f"{self.name} must be one integer, not {value.dtype}{list(value.shape)}")
        return int(self._in_range(int(value.reshape(())), shapes))

    def range_for(self, shapes: Shapes) -> tuple[float, float] | None:
        """Return the lowest and the highest valid number for these input shapes; None if there is no limit."""
        return self.valid_range(shapes) if callable(self.valid_range) else self.valid_range

    def exceeds(self, value: Any, shapes: Shapes) -> tuple[float, float] | None:
        """Return the range that a value, or a number of a list, is outside of; None if it is valid."""
        valid = self.range_for(shapes)
        numbers = value if isinstance(value, tuple) else (value,)
        return valid if valid and not all(valid[0] <= number <= valid[1] for number in numbers) else None

    def _in_range(self, value: Any, shapes: Shapes) -> Any:
        if valid := self.exceeds(value, shapes):
            raise ValueError(f"{self.name}={value} is out of range ({valid[0]} to {valid[1]})")
        return value
