"""Specification of an operation as frozen dataclasses, which rules, runtimes and converters read and do not repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import (
    BF16,
    BOOLEAN,
    DYNAMIC,
    ELEMENT_TYPES,
    F16,
    F32,
    F64,
    I32,
    I64,
    STRING,
    ElementType,
    by_name,
)
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.attribute import Attribute, Attributes, Shapes
from ov_gather.ops.fields import OperationError, check, shown
from ov_gather.ops.index_rule import AttributeSize, AxisSize, CoordinateSizes, IndexRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ANY",
    "BF16",
    "BOOLEAN",
    "DYNAMIC",
    "F16",
    "F32",
    "F64",
    "I32",
    "I64",
    "STRING",
    "UNKNOWN",
    "Arrays",
    "Attribute",
    "AttributeSize",
    "Attributes",
    "AxisSize",
    "CoordinateSizes",
    "Dimension",
    "DimensionError",
    "ElementType",
    "IndexRule",
    "Input",
    "Operation",
    "PartialShape",
    "RankError",
    "ShapeError",
    "Shapes",
    "TypeRuleError",
    "Types",
    "require_axis",
]

Types = Sequence[ElementType | None]
Arrays = Sequence["NDArray[Any]"]
Compute = Callable[[Arrays, Attributes], Arrays]
Values = Sequence["NDArray[Any] | None"]

# OpenVINO 2026.4.1 has an opset17, but it lacks many operations, such as GatherElements and Result.
LATEST_OPSET = 16
CUSTOM_OPSET = "ov_gather"
MAX_RANK = 64  # NumPy's maximum


def numbered_opsets(first: int, last: int = LATEST_OPSET) -> tuple[str, ...]:
    """Return the names of OpenVINO's opsets from the first to the last."""
    return tuple(f"opset{number}" for number in range(first, last + 1))


def whole_byte_types() -> tuple[ElementType, ...]:
    """Return the element types that our operations support inside OpenVINO: those of whole bytes."""
    return tuple(row for row in ELEMENT_TYPES if row.bits % 8 == 0)


class ShapeError(ValueError):
    """An operation does not accept its input shapes. `port` is the position of the wrong input; `hint` says what is right."""

    def __init__(self, reason: str, hint: str = "", port: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.port = reason, hint, port


class TypeRuleError(ValueError):
    """The input types contradict each other. `port` is the position of the wrong input; `hint` says what is right."""

    def __init__(self, reason: str, hint: str = "", port: int = 0) -> None:
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


def _types(given: Any) -> tuple[ElementType, ...]:
    """Return element types that are given as such, or by name. Raises OperationError."""
    kinds = given if isinstance(given, tuple | list | set | frozenset) and given else [given]
    found = []
    for each in kinds:
        kind = by_name(each) if isinstance(each, str) else each
        if not isinstance(kind, ElementType):
            raise OperationError(f"there is no element type {shown(each)}; there are {', '.join(map(str, ELEMENT_TYPES))}")
        found.append(kind)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of an operation.

    Attributes:
        types: `element_types`, as such or by name, e.g. ("f32", "f16").
        element_types: the types that it accepts; None = any.
        assumed: the type assumed for a fragment's port without a type; by default the first of these, or f32.
        attribute: set if the input is one number that acts as an attribute when a Const feeds it.
    """

    name: str
    types: InitVar[Iterable[ElementType | str] | None] = None
    element_types: tuple[ElementType, ...] | None = None
    assumed: ElementType = DYNAMIC
    attribute: Attribute | None = None

    def __post_init__(self, types: Iterable[ElementType | str] | None) -> None:
        """Parse the types. Raises OperationError for an unknown one, and for a field that is wrong."""
        if types is not None:
            object.__setattr__(self, "element_types", _types(types))
        check(self)
        if self.assumed is DYNAMIC:
            object.__setattr__(self, "assumed", (self.element_types or (F32,))[0])


def fill_open_dimensions(shapes: Shapes, attributes: Attributes, size: int) -> tuple[tuple[int, ...], ...]:
    """Give each open dimension this size, or the closest one allowed. An open rank becomes 2, or more if the axis needs it."""
    axis = attributes.get("axis", 0)
    rank = max(2, axis + 1, -axis) if isinstance(axis, int) else 2
    return tuple(
        tuple(dim.closest_to(size) for dim in ((ANY,) * rank if shape.dims is None else shape.dims)) for shape in shapes
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The complete specification of a versioned operation.

    Attributes:
        type: as <layer type> writes it.
        opset: the only one of `opsets`.
        opsets: the `version` values that denote it, oldest first.
        name: versioned name, e.g. "GatherElements-6"; by default the type with the first opset.
        attributes, inputs, outputs: in order; outputs by name.
        infer_types: output element types from input element types (None = unknown); that of the first input by default. Raises
            TypeRuleError.
        infer_shapes: output shapes from input shapes and attributes, as OpenVINO infers them. Raises ShapeError.
        reference: computes the outputs in NumPy, for arrays of any valid type. Raises IndexError for an index out of bounds.
        atol, rtol: the differences from the reference that are permitted, up to atol + rtol * abs(expected); 0 = the same bits.
            A mapping has one for each element type of an output, by name, and 0 for the others.
        restrict: checks of shapes that the specification requires and OpenVINO does not make. Raises ShapeError.
        index_rule: which index values are in bounds; None if no input holds indices.
        choose_sizes: fills the open dimensions of valid input shapes, with the given size where it is free.
        adds_up: from the attributes, whether results depend on the order of roundings, as those of sums do. Cases then hold
            ordinary numbers only; those of the gather family also NaN.
        evaluate: computes the outputs on our kernel; None if it has none.
        custom_version: from the attributes, the type and attributes of the equivalent layer in our opset; None if there is
            none. Inputs that are attributes there are left out.
    """

    type: str
    opset: InitVar[str] = ""
    opsets: tuple[str, ...] = ()
    name: str = ""
    attributes: tuple[Attribute, ...] = ()
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...] = ("output",)
    infer_types: Callable[[Types], tuple[ElementType | None, ...]] = lambda types: (types[0],)
    infer_shapes: Callable[[Shapes, Attributes], tuple[PartialShape, ...]]
    reference: Compute
    atol: float | Mapping[str, float] = 0.0
    rtol: float | Mapping[str, float] = 0.0
    restrict: Callable[[Shapes, Attributes], None] = lambda shapes, attributes: None
    index_rule: IndexRule | None = None
    choose_sizes: Callable[[Shapes, Attributes, int], tuple[tuple[int, ...], ...]] = fill_open_dimensions
    adds_up: Callable[[Attributes], bool] = lambda attributes: False
    evaluate: Compute | None = None
    custom_version: Callable[[Attributes], tuple[str, Attributes] | None] = lambda attributes: None

    def __post_init__(self, opset: str) -> None:
        """Fill in opsets and name. Raises OperationError for a field that is wrong, alone or beside others."""
        if not isinstance(opset, str) or opset:
            object.__setattr__(self, "opsets", (opset,))
        first = self.opsets[0] if isinstance(self.opsets, tuple | list) and self.opsets else None
        if isinstance(self.name, str) and not self.name and isinstance(self.type, str) and isinstance(first, str):
            object.__setattr__(self, "name", f"{self.type}-{first}")
        check(self)
        for field in ("attributes", "inputs", "outputs", "opsets"):
            object.__setattr__(self, field, tuple(getattr(self, field)))  # users write lists

    @property
    def found_in(self) -> str:
        """The first and the last opset, for people: "opset6 to opset16"."""
        return " to ".join(dict.fromkeys((self.opsets[0], self.opsets[-1])))

    def permitted(self, kind: ElementType | None) -> tuple[float, float]:
        """Return atol and rtol for an output of this element type."""
        absolute, relative = (
            bound.get(str(kind), 0.0) if isinstance(bound, Mapping) else bound for bound in (self.atol, self.rtol)
        )
        return absolute, relative

    def port_of(self, attribute: str) -> int:
        """Return the position of the input that acts as an attribute of this name. Raises ValueError if there is none."""
        return [given.attribute and given.attribute.name for given in self.inputs].index(attribute)

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
