"""This module tells what operators do with the elements of their inputs, where these come out again: one table for ONNX, one
for OpenVINO.

An analysis that needs to know which operators "only move values" derives its own set from here, by a predicate that says which
meanings it bears with: `operators(ONNX, lambda meaning: ...)`. The sets differ on purpose. What becomes of an index out of
bounds is no part of a meaning, and neither are mistakes of a runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum


class Selection(Enum):
    """A Selection says which elements of its sources an operator gives out, and where."""

    IN_ORDER = "each element once, in the same row-major order"
    REORDERED = "each element once"
    REPEATED = "each element, as often as the sizes of the output say"
    IN_PART = "some elements, maybe several times; positions tell which"
    CHOSEN = "at each place an element of one of the sources; positions or a condition tell which source"
    BY_VALUE = "elements that their own values single out, as the greatest"


class Along(Enum):
    """Along says what indices count along."""

    AXIS = "one axis of the first input, which the attribute or the input `axis` names"
    COORDINATES = "the leading axes of the first input, after the batch dimensions; one tuple of coordinates for each slice"
    CLASSES = "the classes of a one-hot vector, whose number is the input `depth`"


@dataclass(frozen=True, slots=True)
class Indices:
    """Indices are held by the input at this position, and count along this."""

    position: int
    along: Along


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Meaning says what comes out of an operator, at each of its outputs.

    Attributes:
        sources: positions of the inputs whose elements come out. There is none where the node itself, or the shape of an input,
            states the output.
        selection: which elements of the sources come out.
        adds: whether elements may come out that no source has: a default fill value, or bounds that attributes state.
        converts: whether the element type may change on the way.
        reduces: whether the attribute `reduction`, unless it is "none", makes the operator compute.
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
        """An operator rearranges if it takes elements, wherever they are, to other places, and at most converts them."""
        return bool(self.sources) and self.selection not in (Selection.CHOSEN, Selection.BY_VALUE)

    @property
    def computes(self) -> bool:
        """An operator computes if it looks at the elements of its sources, or may combine them."""
        return self.reduces or self.selection is Selection.BY_VALUE


def operators(table: Mapping[str, Meaning], is_wanted: Callable[[Meaning], bool]) -> frozenset[str]:
    """Name the operators whose meaning a predicate accepts."""
    return frozenset(name for name, meaning in table.items() if is_wanted(meaning))


def carries(table: Mapping[str, Meaning], name: str, position: int) -> bool:
    """Tell whether elements of the input at this position come out. Those of shapes, axes, indices and conditions do not."""
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
"""By operator of the default domain. What Clip may take instead of an element is an input, as an operand of Max is."""

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
"""By type of operation, of OpenVINO or ours. A type with versions that differ in more than what is legal means all of these."""
