"""Data movement of operators: which input elements reach the output, and where; one table for ONNX, one for OpenVINO.

An analysis derives its own set of operators that "only move values", with a predicate on their meaning:
`operators(ONNX, lambda meaning: ...)`. Analyses differ on purpose in what they accept. Meanings cover neither indices out of
bounds nor bugs of a runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum


class Selection(Enum):
    """Which elements of its sources an operator outputs, and in which order."""

    IN_ORDER = "each element once, in the same row-major order"
    REORDERED = "each element once"
    REPEATED = "each element, as often as the sizes of the output say"
    IN_PART = "some elements, maybe several times; positions tell which"
    CHOSEN = "at each place an element of one of the sources; positions or a condition tell which source"
    BY_VALUE = "elements that their own values single out, as the greatest"


class Along(Enum):
    """What the indices of an operator address."""

    AXIS = "one axis of the first input, which the attribute or the input `axis` names"
    COORDINATES = "the leading axes of the first input, after the batch dimensions; one tuple of coordinates for each slice"
    CLASSES = "the classes of a one-hot vector, whose number is the input `depth`"


@dataclass(frozen=True, slots=True)
class Indices:
    """The position of the input that holds indices, and what they address."""

    position: int
    along: Along


@dataclass(frozen=True, slots=True)
class Meaning:
    """The elements that every output of an operator consists of.

    Attributes:
        sources: positions of the inputs whose elements are output. Empty if the node itself, or the shape of an input,
            determines the output.
        selection: which elements of the sources are output.
        adds: whether other elements may be output: a default fill value, or bounds from attributes.
        converts: whether the element type may change.
        reduces: whether the operator computes, unless its attribute `reduction` is "none".
        indices: the input that holds indices.
    """

    sources: Collection[int]
    selection: Selection
    adds: bool = False
    converts: bool = False
    reduces: bool = False
    indices: Indices | None = None

    @property
    def rearranges(self) -> bool:
        """True if the operator moves elements regardless of their values and at most converts them."""
        return bool(self.sources) and self.selection not in (Selection.CHOSEN, Selection.BY_VALUE)

    @property
    def computes(self) -> bool:
        """True if the operator depends on the values of its sources, or may combine them."""
        return self.reduces or self.selection is Selection.BY_VALUE


def operators(table: Mapping[str, Meaning], is_wanted: Callable[[Meaning], bool]) -> frozenset[str]:
    """Return the names of the operators whose meaning the predicate accepts."""
    return frozenset(name for name, meaning in table.items() if is_wanted(meaning))


def carries(table: Mapping[str, Meaning], name: str, position: int) -> bool:
    """Return True if elements of the input at this position reach the output, unlike shapes, axes, indices and conditions."""
    return name in table and position in table[name].sources


def _as(meaning: Meaning, names: str) -> dict[str, Meaning]:
    return dict.fromkeys(names.split(), meaning)


_FIRST = (0,)
_EVERY_INPUT = range(2**31)

_STATED = Meaning((), Selection.IN_ORDER)
_IN_ORDER = Meaning(_FIRST, Selection.IN_ORDER)
_CONVERTED = replace(_IN_ORDER, converts=True)
_REORDERED = Meaning(_FIRST, Selection.REORDERED)
_JOINED = Meaning(_EVERY_INPUT, Selection.REORDERED)
_REPEATED = Meaning(_FIRST, Selection.REPEATED)
_IN_PART = Meaning(_FIRST, Selection.IN_PART)
_AT_INDEX = replace(_IN_PART, indices=Indices(1, Along.AXIS))
_AT_COORDINATES = replace(_IN_PART, indices=Indices(1, Along.COORDINATES))
_BY_CONDITION = Meaning((1, 2), Selection.CHOSEN)
_WRITTEN_AT_INDEX = Meaning((0, 2), Selection.CHOSEN, indices=Indices(1, Along.AXIS))
_WRITTEN_AT_COORDINATES = replace(_WRITTEN_AT_INDEX, reduces=True, indices=Indices(1, Along.COORDINATES))
_GREATEST_OR_LEAST = Meaning(_EVERY_INPUT, Selection.BY_VALUE)

_IN_BOTH = {
    **_as(_IN_ORDER, "Reshape Squeeze Unsqueeze"),
    **_as(_REORDERED, "DepthToSpace ReverseSequence SpaceToDepth Transpose"),
    **_as(_JOINED, "Concat"),
    **_as(_REPEATED, "Tile"),
    **_as(_IN_PART, "Slice Split"),
    **_as(_AT_INDEX, "Gather GatherElements"),
    **_as(_AT_COORDINATES, "GatherND"),
}

ONNX: Mapping[str, Meaning] = {
    **_IN_BOTH,
    **_as(_STATED, "Constant ConstantOfShape Shape Size"),
    **_as(_IN_ORDER, "Flatten Identity"),
    **_as(_CONVERTED, "Cast CastLike"),
    **_as(_REPEATED, "Expand"),
    **_as(_IN_PART, "Compress"),
    **_as(_BY_CONDITION, "Where"),
    **_as(replace(_WRITTEN_AT_INDEX, reduces=True), "ScatterElements"),
    **_as(_WRITTEN_AT_COORDINATES, "ScatterND"),
    **_as(Meaning((2,), Selection.CHOSEN, indices=Indices(0, Along.CLASSES)), "OneHot"),
    **_as(Meaning((0, 2), Selection.CHOSEN, adds=True), "Pad"),
    **_as(_GREATEST_OR_LEAST, "Clip Max Min"),
}
"""Operators of the default domain. The bounds of Clip are inputs, and so sources like the operands of Max."""

OPENVINO: Mapping[str, Meaning] = {
    **_IN_BOTH,
    **_as(_STATED, "Constant Const ShapeOf"),
    **_as(_CONVERTED, "Convert ConvertLike"),
    **_as(_REPEATED, "Broadcast"),
    **_as(_IN_PART, "StridedSlice VariadicSplit"),
    **_as(_BY_CONDITION, "Select"),
    **_as(_WRITTEN_AT_INDEX, "ScatterUpdate"),
    **_as(replace(_WRITTEN_AT_INDEX, reduces=True), "ScatterElements ScatterElementsUpdate"),
    **_as(_WRITTEN_AT_COORDINATES, "ScatterND ScatterNDUpdate"),
    **_as(Meaning((2, 3), Selection.CHOSEN, indices=Indices(0, Along.CLASSES)), "OneHot"),
    **_as(Meaning((0, 3), Selection.CHOSEN, adds=True), "Pad"),
    **_as(_GREATEST_OR_LEAST, "Maximum Minimum"),
    **_as(Meaning(_FIRST, Selection.BY_VALUE, adds=True), "Clamp"),
}
"""Operation types of OpenVINO and ours. An entry covers all versions of its type; if they differ, it is their union."""

ENDS = ("Parameter", "Const", "Result")
"""Layers of an IR that compute nothing."""
RANDOM = ("RandomUniform", "Multinomial")
"""Layers of an IR whose outputs are random."""
