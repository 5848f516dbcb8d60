"""An operation is written down in frozen descriptions, which rules, runtimes and converters read and do not repeat."""

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
Values = Sequence["NDArray[Any] | None"]

# opset17 exists in OpenVINO 2026.4.1, but holds only a part of the operations: no GatherElements, no Result.
LATEST_OPSET = 16
CUSTOM_OPSET = "ov_gather"
BOOLEANS = ("true", "false", "1", "0")  # in any case
MAX_RANK = 64  # of NumPy arrays


def numbered_opsets(first: int, last: int = LATEST_OPSET) -> tuple[str, ...]:
    """Name OpenVINO's opsets from the first to the last."""
    return tuple(f"opset{number}" for number in range(first, last + 1))


def whole_byte_types() -> tuple[ElementType, ...]:
    """List the element types that our operations inside OpenVINO take."""
    return tuple(row for row in ELEMENT_TYPES if row.bits % 8 == 0)


class ShapeError(ValueError):
    """An operation does not take its input shapes. `port` is the position of the input to blame; `hint` says what is right."""

    def __init__(self, reason: str, hint: str, port: int) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class TypeRuleError(ValueError):
    """Input types do not fit together. `port` is the position of the input to blame; `hint` says what would be right."""

    def __init__(self, reason: str, hint: str, port: int) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class RankError(ShapeError):
    """The number of dimensions is wrong."""


def require_axis(axis: int, shape: PartialShape, port: int) -> None:
    """Raise RankError where an axis is not one of a shape of known rank."""
    rank = shape.rank
    if rank is not None and not -rank <= axis < rank:
        valid = f"it may be {-rank} to {rank - 1}" if rank else "a scalar has none"
        raise RankError(f"axis {axis} is out of range for rank {rank}", valid, port)


class DimensionError(ShapeError):
    """The size of a dimension is wrong."""


def parse_integer(text: str) -> int:
    """Read a decimal integer with nothing around. Raises ValueError."""
    number = parse_digits(text.removeprefix("-"))
    if number is None:
        raise ValueError(f"'{text[:40]}' is not an integer")
    return -number if text.startswith("-") else number


@dataclass(frozen=True, slots=True)
class Attribute:
    """An Attribute describes an attribute of an operation.

    Attributes:
        default: its value where the document leaves it out.
        valid_range: of the shapes: the lowest and the highest integer; None while they leave it open.
        kind: "int", "bool", or the words that it may be, "|" between them.
    """

    name: str
    required: bool
    default: Any
    valid_range: Callable[[Shapes], tuple[int, int] | None] = lambda shapes: None
    kind: str = "int"

    def parse(self, text: str) -> Any:
        """Read the value that a text stands for. Raises ValueError."""
        if self.kind == "int":
            return parse_integer(text)
        words = BOOLEANS if self.kind == "bool" else tuple(self.kind.split("|"))
        if text.lower() not in words:
            raise ValueError(f"'{text[:40]}' is not one of {', '.join(words)}")
        return text.lower() in ("true", "1") if self.kind == "bool" else text.lower()

    def read(self, text: Mapping[str, str], shapes: Shapes) -> Any:
        """Read this attribute of a layer. Raises ValueError."""
        if self.name not in text and self.required:
            raise ValueError(f"attribute {self.name} is missing")
        return self._in_range(self.parse(text[self.name]) if self.name in text else self.default, shapes)

    def of_value(self, value: NDArray[Any], shapes: Shapes) -> int:
        """Read this attribute from the value of an input. Raises ValueError."""
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
    """An Input describes an input of an operation.

    Attributes:
        assumed: the type of a fragment's port that does not say.
        element_types: those that it may have; None = any.
        attribute: where it is one number, known if a Const feeds it: that number, as if it were an attribute.
    """

    name: str
    assumed: ElementType
    element_types: tuple[ElementType, ...] | None = None
    attribute: Attribute | None = None


@dataclass(frozen=True, slots=True)
class IndexRule:
    """An IndexRule says which indices an operation takes.

    Attributes:
        port: position of the input that holds the indices.
        sizes: from shapes and attributes: the size s of what an index goes along; where tuples index several dimensions, one
            for each coordinate. None while one is open.
        specified: the range as the operation's page states it, for people.
        lowest_specified: the lowest index that the page allows, from s. The highest is s - 1.
        negative: what OpenVINO does with negative indices that the page does not allow; our kernel counts them from the end,
            as ONNX does. "" where the page allows them.
        zero_fill: from the attributes: whether an index out of bounds yields zeros.
    """

    port: int
    sizes: Callable[[Shapes, Attributes], tuple[int, ...] | None]
    specified: str
    lowest_specified: Callable[[Any], Any]
    negative: str = ""
    zero_fill: Callable[[Attributes], bool] = lambda attributes: False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An Operation is the whole description of a versioned operation.

    Attributes:
        name: versioned name, e.g. "GatherElements-6".
        type: as <layer type> writes it.
        opsets: the `version` values under which it is found, oldest first.
        attributes, inputs, outputs: in order; outputs by name.
        infer_types: output element types from those of the inputs (None = unknown). Raises TypeRuleError.
        infer_shapes: output shapes from those of the inputs and the attributes, as OpenVINO infers them. Raises ShapeError.
        restrict: what the page demands of the shapes beyond that. Raises ShapeError.
        index_rule: which index values are in bounds.
        choose_sizes: fill the open dimensions of valid input shapes, every free one with the given size.
        evaluate: the outputs, on our kernel.
        custom_version: from the attributes: the type and the attributes that a layer has in our opset; None where that has no
            counterpart. Inputs that are attributes there are left out.
    """

    name: str
    type: str
    opsets: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    infer_types: Callable[[Types], tuple[ElementType | None, ...]]
    infer_shapes: Callable[[Shapes, Attributes], tuple[PartialShape, ...]]
    index_rule: IndexRule
    choose_sizes: Callable[[Shapes, Attributes, int], tuple[tuple[int, ...], ...]]
    evaluate: Callable[[Sequence[NDArray[Any]], Attributes], tuple[NDArray[Any], ...]]
    restrict: Callable[[Shapes, Attributes], None] = lambda shapes, attributes: None
    custom_version: Callable[[Attributes], tuple[str, Attributes] | None] = lambda attributes: None

    @property
    def found_in(self) -> str:
        """The text names the opsets for people: "opset6 to opset16"."""
        return " to ".join(dict.fromkeys((self.opsets[0], self.opsets[-1])))

    def read_attributes(self, text: Mapping[str, str], shapes: Shapes, values: Values = ()) -> dict[str, Any]:
        """Read the attributes of a layer for inputs of these shapes, with defaults filled in.

        An input that stands for an attribute gives its value, as far as `values` (None = unknown) has one.

        Raises ValueError where one is missing, malformed or out of range.
        """
        attributes = {attribute.name: attribute.read(text, shapes) for attribute in self.attributes}
        for given, value in zip(self.inputs, values, strict=False):
            if given.attribute and value is not None:
                attributes[given.attribute.name] = given.attribute.of_value(value, shapes)
        return attributes
