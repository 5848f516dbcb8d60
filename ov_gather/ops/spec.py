"""Specification of an operation as frozen dataclasses, which rules, runtimes and converters read and do not repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import ELEMENT_TYPES, ElementType
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import PartialShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shapes = Sequence[PartialShape]
Types = Sequence[ElementType | None]
Attributes = Mapping[str, Any]
Arrays = Sequence["NDArray[Any]"]
Values = Sequence["NDArray[Any] | None"]

# OpenVINO 2026.4.1 has an opset17, but it lacks many operations, such as GatherElements and Result.
LATEST_OPSET = 16
CUSTOM_OPSET = "ov_gather"
BOOLEANS = ("true", "false", "1", "0")  # case-insensitive
MAX_RANK = 64  # NumPy's maximum


def numbered_opsets(first: int, last: int = LATEST_OPSET) -> tuple[str, ...]:
    """Return the names of OpenVINO's opsets from the first to the last."""
    return tuple(f"opset{number}" for number in range(first, last + 1))


def whole_byte_types() -> tuple[ElementType, ...]:
    """Return the element types that our operations support inside OpenVINO: those of whole bytes."""
    return tuple(row for row in ELEMENT_TYPES if row.bits % 8 == 0)


class ShapeError(ValueError):
    """An operation does not accept its input shapes. `port` is the position of the wrong input; `hint` says what is right."""

    def __init__(self, reason: str, hint: str, port: int) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class TypeRuleError(ValueError):
    """The input types contradict each other. `port` is the position of the wrong input; `hint` says what is right."""

    def __init__(self, reason: str, hint: str, port: int) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class RankError(ShapeError):
    """The number of dimensions is wrong."""


def require_axis(axis: int, shape: PartialShape, port: int) -> None:
    """Raise RankError if an axis is out of range for the rank of a shape; an open rank accepts any."""
    rank = shape.rank
    if rank is not None and not -rank <= axis < rank:
        valid = f"it may be {-rank} to {rank - 1}" if rank else "a scalar has none"
        raise RankError(f"axis {axis} is out of range for rank {rank}", valid, port)


class DimensionError(ShapeError):
    """The size of a dimension is wrong."""


def parse_integer(text: str) -> int:
    """Parse a decimal integer without surrounding blanks. Raises ValueError."""
    number = parse_digits(text.removeprefix("-"))
    if number is None:
        raise ValueError(f"'{text[:40]}' is not an integer")
    return -number if text.startswith("-") else number


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an operation.

    Attributes:
        default: its value if the document omits it.
        valid_range: from the input shapes, the lowest and the highest valid integer; None while the shapes leave it open.
        kind: "int", "bool", or the valid words, separated by "|".
    """

    name: str
    required: bool
    default: Any
    valid_range: Callable[[Shapes], tuple[int, int] | None] = lambda shapes: None
    kind: str = "int"

    def parse(self, text: str) -> Any:
        """Parse the value of this attribute. Raises ValueError."""
        if self.kind == "int":
            return parse_integer(text)
        words = BOOLEANS if self.kind == "bool" else tuple(self.kind.split("|"))
        if text.lower() not in words:
            raise ValueError(f"'{text[:40]}' is not one of {', '.join(words)}")
        return text.lower() in ("true", "1") if self.kind == "bool" else text.lower()

    def read(self, text: Mapping[str, str], shapes: Shapes) -> Any:
        """Return the value of this attribute from a layer's attribute texts, or its default. Raises ValueError."""
        if self.name not in text and self.required:
            raise ValueError(f"attribute {self.name} is missing")
        return self._in_range(self.parse(text[self.name]) if self.name in text else self.default, shapes)

    def of_value(self, value: NDArray[Any], shapes: Shapes) -> int:
        """Return the value of this attribute from a constant input. Raises ValueError."""
        if value.size != 1 or value.dtype.kind not in "iu":
            raise ValueError(f"{self.name} must be one integer, not {value.dtype}{list(value.shape)}")
        return int(self._in_range(int(value.reshape(())), shapes))

    def _in_range(self, value: Any, shapes: Shapes) -> Any:
        valid = self.valid_range(shapes)
        if valid and not valid[0] <= value <= valid[1]:
            raise ValueError(f"{self.name}={value} is out of range ({valid[0]} to {valid[1]})")
        return value


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an operation.

    Attributes:
        assumed: the type assumed for a fragment's port without a type.
        element_types: the types that it accepts; None = any.
        attribute: set if the input is one number that acts as an attribute when a Const feeds it.
    """

    name: str
    assumed: ElementType
    element_types: tuple[ElementType, ...] | None = None
    attribute: Attribute | None = None


@dataclass(frozen=True, slots=True)
class IndexRule:
    """The indices that an operation accepts.

    Attributes:
        port: position of the input that holds the indices.
        sizes: from shapes and attributes, the size s of the dimension that an index addresses, or one size per coordinate of a
            tuple; None while one is open.
        specified: the range as the operation's specification states it, for people.
        lowest_specified: from s, the lowest index that the specification allows. The highest is s - 1.
        negative: what OpenVINO does with negative indices that the specification forbids; our kernel wraps them, as ONNX does.
            "" if the specification allows them.
        zero_fill: from the attributes, whether an index out of bounds yields zeros.
    """

    port: int
    sizes: Callable[[Shapes, Attributes], tuple[int, ...] | None]
    specified: str = "[-s, s-1]"
    lowest_specified: Callable[[Any], Any] = lambda size: -size
    negative: str = ""
    zero_fill: Callable[[Attributes], bool] = lambda attributes: False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The complete specification of a versioned operation.

    Attributes:
        name: versioned name, e.g. "GatherElements-6".
        type: as <layer type> writes it.
        opsets: the `version` values that denote it, oldest first.
        attributes, inputs, outputs: in order; outputs by name.
        infer_types: output element types from input element types (None = unknown); that of the first input by default. Raises
            TypeRuleError.
        infer_shapes: output shapes from input shapes and attributes, as OpenVINO infers them. Raises ShapeError.
        restrict: checks of shapes that the specification requires and OpenVINO does not make. Raises ShapeError.
        index_rule: which index values are in bounds.
        choose_sizes: fills the open dimensions of valid input shapes, with the given size where it is free.
        evaluate: computes the outputs on our kernel.
        custom_version: from the attributes, the type and attributes of the equivalent layer in our opset; None if there is
            none. Inputs that are attributes there are left out.
    """

    name: str
    type: str
    opsets: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...] = ("output",)
    infer_types: Callable[[Types], tuple[ElementType | None, ...]] = lambda types: (types[0],)
    infer_shapes: Callable[[Shapes, Attributes], tuple[PartialShape, ...]]
    index_rule: IndexRule
    choose_sizes: Callable[[Shapes, Attributes, int], tuple[tuple[int, ...], ...]]
    evaluate: Callable[[Arrays, Attributes], Arrays]
    restrict: Callable[[Shapes, Attributes], None] = lambda shapes, attributes: None
    custom_version: Callable[[Attributes], tuple[str, Attributes] | None] = lambda attributes: None

    @property
    def found_in(self) -> str:
        """The first and the last opset, for people: "opset6 to opset16"."""
        return " to ".join(dict.fromkeys((self.opsets[0], self.opsets[-1])))

    def read_attributes(self, text: Mapping[str, str], shapes: Shapes, values: Values = ()) -> dict[str, Any]:
        """Read the attributes of a layer for inputs of these shapes, with defaults filled in.

        An input that serves as an attribute is read from `values` (None = unknown).

        Raises ValueError if an attribute is missing, malformed or out of range.
        """
        attributes = {attribute.name: attribute.read(text, shapes) for attribute in self.attributes}
        for given, value in zip(self.inputs, values, strict=False):
            if given.attribute and value is not None:
                attributes[given.attribute.name] = given.attribute.of_value(value, shapes)
        return attributes
