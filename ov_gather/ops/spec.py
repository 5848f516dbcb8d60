"""What an operation is written in: frozen descriptions that rules, runtimes and converters read and do not repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import ElementType
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.shapes import PartialShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

Shapes = Sequence[PartialShape]
Types = Sequence[ElementType | None]
Attributes = Mapping[str, Any]

# opset17 exists in OpenVINO 2026.4.1, but holds only a part of the operations: no GatherElements, no Result.
LATEST_OPSET = 16
CUSTOM_OPSET = "ov_gather"


def numbered_opsets(first: int, last: int = LATEST_OPSET) -> tuple[str, ...]:
    """The names of OpenVINO's opsets from the first to the last."""
    return tuple(f"opset{number}" for number in range(first, last + 1))


class ShapeError(ValueError):
    """Input shapes that an operation does not take. `port`: position of the input to blame; `hint`: what would be right."""

    def __init__(self, reason: str, hint: str, port: int) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class RankError(ShapeError):
    """The number of dimensions is wrong."""


class DimensionError(ShapeError):
    """The size of a dimension is wrong."""


def parse_integer(text: str) -> int:
    """A decimal integer, nothing around it. Raises ValueError."""
    number = parse_digits(text.removeprefix("-"))
    if number is None:
        raise ValueError(f"'{text[:40]}' is not an integer")
    return -number if text.startswith("-") else number


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute.

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
        """The value that a text stands for. Raises ValueError."""
        if self.kind == "int":
            return parse_integer(text)
        words = ("true", "false", "1", "0") if self.kind == "bool" else self.kind.split("|")
        if text.lower() not in words:
            raise ValueError(f"'{text[:40]}' is not one of {', '.join(words)}")
        return text.lower() in ("true", "1") if self.kind == "bool" else text.lower()

    def read(self, text: Mapping[str, str], shapes: Shapes) -> Any:
        """The value of this attribute. Raises ValueError."""
        if self.name not in text and self.required:
            raise ValueError(f"attribute {self.name} is missing")
        value = self.parse(text[self.name]) if self.name in text else self.default
        valid = self.valid_range(shapes)
        if valid and not valid[0] <= value <= valid[1]:
            raise ValueError(f"{self.name}={value} is out of range ({valid[0]} to {valid[1]})")
        return value


@dataclass(frozen=True, slots=True)
class Input:
    """An input. `element_types` None = any. `assumed`: the type of a fragment's port that does not say."""

    name: str
    assumed: ElementType
    element_types: tuple[ElementType, ...] | None = None


@dataclass(frozen=True, slots=True)
class IndexRule:
    """Which indices an operation takes along an axis of size s.

    Attributes:
        port: position of the input that holds the indices.
        axis: of the data (input 0), from the attributes and its rank; its size is s.
        specified: the range as the operation's page states it, for people.
        lowest_specified: the lowest index that the page allows, from s. The highest is s - 1.
        negative_since: the OpenVINO release from which its CPU runtime counts negative indices from the end, whatever the
            page says; our kernel always does, as ONNX. "" where the page allows them.
    """

    port: int
    axis: Callable[[Attributes, int], int]
    specified: str
    lowest_specified: Callable[[int], int]
    negative_since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A versioned operation, whole.

    Attributes:
        name: versioned name, e.g. "GatherElements-6".
        type: as <layer type> writes it.
        opsets: the `version` values under which it is found, oldest first.
        attributes, inputs, outputs: in order; outputs by name.
        infer_types: output element types from those of the inputs (None = unknown).
        infer_shapes: output shapes from those of the inputs and the attributes. Raises ShapeError.
        index_rule: which index values are in bounds.
        choose_sizes: fill the open dimensions of valid input shapes, every free one with the given size.
        evaluate: the outputs, on our kernel.
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

    @property
    def found_in(self) -> str:
        """The opsets, for people: "opset6 to opset16"."""
        return " to ".join(dict.fromkeys((self.opsets[0], self.opsets[-1])))

    def read_attributes(self, text: Mapping[str, str], shapes: Shapes) -> dict[str, Any]:
        """The values of a layer's attributes for inputs of these shapes, defaults filled in.

        Raises ValueError where one is missing, malformed or out of range.
        """
        return {attribute.name: attribute.read(text, shapes) for attribute in self.attributes}
