"""Parts of inputs that a model reads: slices, splits, and gathers of constant indices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ov_gather.graph.protocol import Key, Node
from ov_gather.ranges.algebra.symbols import END, AxisSlice, Elements
from ov_gather.ranges.algebra.values import Shape
from ov_gather.ranges.graph import OPENVINO, AnalysedGraph
from ov_gather.ranges.rules.openvino import counts_from_end


def is_all_of(parts: Sequence[Elements], shape: Shape | None) -> bool:
    """Return True if parts along one axis are together all of an input of this shape."""
    spans = [span for part in parts for span in part.spans]
    if shape is None or len(spans) != len(parts) or len({span.axis for span in spans}) != 1:
        return False
    size = shape[spans[0].axis].value
    return size is not None and len({place for span in spans for place in range(*span[1:])}) == size


@dataclass(frozen=True)
class InputPart:
    """A tensor that holds a part of an input.

    Attributes:
        elements: the part.
        axes: for each axis of the tensor, that of the input.
    """

    elements: Elements
    axes: tuple[int, ...]


def parts_in(graph: AnalysedGraph, steps: Iterable[Node]) -> dict[Key, Elements]:
    """Return the parts of inputs that steps of the main graph cut out, by the tensors that hold them."""
    known: dict[Key, InputPart] = {}
    is_onnx = graph.vocabulary is not OPENVINO
    for name, key in graph.inputs.items():
        shape = graph.declared(key).shape
        if shape is not None:
            known[key] = InputPart(Elements(name), tuple(range(len(shape))))
    for step in steps:
        is_stock = is_onnx or step.opset.startswith("opset")
        source = known.get(step.inputs[0]) if is_stock and step.type in _CUTS and step.inputs else None
        if source is not None:
            parts = _CUTS[step.type](_Cutter(graph, source, is_onnx), step)
            known |= {key: part for key, part in zip(step.outputs, parts, strict=False) if part is not None}
    return {key: part.elements for key, part in known.items() if part.elements.spans}


class _Cutter:
    """Cuts parts out of a part of an input."""

    def __init__(self, graph: AnalysedGraph, source: InputPart, is_onnx: bool) -> None:
        self._graph, self._source, self.is_onnx = graph, source, is_onnx
        self._shape = graph.declared(graph.inputs[source.elements.input]).shape or ()

    def integers(self, step: Node, position: int, absent: list[int] | None = None) -> list[int] | None:
        """Return a constant scalar or vector of integers; None if an operand is anything else, `absent` if it is absent."""
        key = step.inputs[position] if position < len(step.inputs) else None
        if key is None:
            return absent
        array = self._graph.graph.constant(key)
        return None if array is None or array.dtype.kind not in "iu" or array.ndim > 1 else array.reshape(-1).tolist()

    def rank(self, step: Node, position: int) -> int | None:
        """Return the rank of an operand."""
        key = step.inputs[position]
        return None if key is None else self._graph.declared(key).rank

    def axis(self, axis: int | None) -> int | None:
        """Return a position among the axes of the tensor; None if it is unknown or there is none."""
        rank = len(self._source.axes)
        return None if axis is None or not -rank <= axis < rank else axis % rank

    def size(self, axis: int) -> int | None:
        """Return the size of an axis of the tensor; None if it is open."""
        at = self._source.axes[axis]
        whole, span = self._shape[at].value, self._span(at)
        return whole if whole is None or span is None else len(range(span.start, span.stop, span.step))

    def _span(self, at: int) -> AxisSlice | None:
        return next((span for span in self._source.elements.spans if span.axis == at), None)

    def cut(self, axis: int, start: int | None, stop: int | None, step: int, *, drops: bool = False) -> InputPart | None:
        """Return the part `[start:stop:step]` along an axis, which may be dropped; None if a span cannot say it."""
        at = self._source.axes[axis]
        whole, before = self._shape[at].value, self._span(at)
        if step < 1 or (whole is None and (before is not None or drops)):
            return None
        if whole is None:
            span = AxisSlice(at, start or 0, END if stop is None else stop, step)
            is_whole = span == AxisSlice(at, 0, END)
        else:
            places = range(whole) if before is None else range(before.start, before.stop, before.step)
            places = places[start:stop:step]
            if not places:
                return None
            span, is_whole = (
                AxisSlice(at, places[0], places[-1] + 1, places.step if len(places) > 1 else 1),
                len(places) == whole,
            )
        kept = [one for one in self._source.elements.spans if one.axis != at]
        spans = tuple(sorted(kept if is_whole else [*kept, span]))
        axes = tuple(one for i, one in enumerate(self._source.axes) if i != axis or not drops)
        name = self._source.elements.input
        return InputPart(Elements(name, spans) if spans else Elements(name), axes)

    def at(self, axis: int | None, places: Sequence[int] | None, *, drops: bool) -> InputPart | None:
        """Return the part at some positions of an axis, which are in bounds and at equal distances."""
        size = None if axis is None else self.size(axis)
        if axis is None or size is None or not places or not all(-size <= place < size for place in places):
            return None
        found = [place % size for place in places]
        step = found[1] - found[0] if len(found) > 1 else 1
        if step < 1 or found != list(range(found[0], found[-1] + 1, step)):
            return None
        return self.cut(axis, found[0], found[-1] + 1, step, drops=drops)

    def split(self, axis: int | None, lengths: Sequence[int] | None, number: int) -> Iterator[InputPart | None]:
        """Yield the parts of these lengths along an axis, or that many of equal length."""
        size = None if axis is None else self.size(axis)
        if axis is None or size is None:
            return
        if lengths is None:
            lengths = [size // number] * number if number and size % number == 0 else []
        rest = size - sum(length for length in lengths if length >= 0)
        if rest < 0 or (rest and min(lengths, default=0) >= 0):
            return
        start = 0
        for length in lengths:
            stop = start + (rest if length < 0 else length)
            yield self.cut(axis, start, stop, 1)
            start = stop

    def slices(
        self,
        axes: Sequence[int | None],
        starts: Sequence[int | None],
        stops: Sequence[int | None],
        steps: Sequence[int],
        dropped: Collection[int] = (),
    ) -> InputPart | None:
        """Return the part of slices along different axes, of which the last ones first may be dropped."""
        found: InputPart | None = self._source
        if None in axes or len(set(axes)) < len(axes) or not len(axes) == len(starts) == len(stops) == len(steps):
            return None
        cuts = sorted(zip((axis for axis in axes if axis is not None), starts, stops, steps, strict=True), key=itemgetter(0))
        for axis, start, stop, step in reversed(cuts):  # an axis that is dropped moves those behind it
            if found is None:
                return None
            cutter = _Cutter(self._graph, found, self.is_onnx)
            if axis in dropped:
                found = cutter.at(axis, [start or 0], drops=True)
            else:
                found = cutter.cut(axis, start, None if stop is None or stop >= _UNBOUNDED else stop, step)
        return found


_UNBOUNDED = 2**31 - 1
"""Stops from here on are the end of the axis."""

_Parts = Iterable[InputPart | None]


def _of_gather(cutter: _Cutter, step: Node) -> _Parts:
    axes = [step.integer("axis")] if cutter.is_onnx else cutter.integers(step, 2)
    places, rank = cutter.integers(step, 1), cutter.rank(step, 1)
    if step.integer("batch_dims") or axes is None or len(axes) != 1 or places is None:
        return ()
    if not cutter.is_onnx and not counts_from_end(step) and min(places, default=0) < 0:
        return ()
    return (cutter.at(cutter.axis(axes[0]), places, drops=rank == 0),)


def _of_split(cutter: _Cutter, step: Node) -> _Parts:
    number = len(step.outputs)
    if not cutter.is_onnx:
        axes, lengths = cutter.integers(step, 1), None
    else:
        axes, lengths = [step.integer("axis")], cutter.integers(step, 1) or step.integers("split")
        if lengths is None and len(step.inputs) > 1 and step.inputs[1] is not None:
            return ()
    return cutter.split(cutter.axis(axes[0]), lengths, number) if axes and len(axes) == 1 else ()


def _of_variadic_split(cutter: _Cutter, step: Node) -> _Parts:
    axes, lengths = cutter.integers(step, 1), cutter.integers(step, 2)
    is_known = axes is not None and len(axes) == 1 and lengths is not None
    return cutter.split(cutter.axis(axes[0]), lengths, 0) if is_known and axes else ()


def _of_slice(cutter: _Cutter, step: Node) -> _Parts:
    at_axes, at_steps = (3, 4) if cutter.is_onnx else (4, 3)
    starts, stops = cutter.integers(step, 1), cutter.integers(step, 2)
    count = len(starts or ())
    axes, steps = cutter.integers(step, at_axes, list(range(count))), cutter.integers(step, at_steps, [1] * count)
    if starts is None or stops is None or axes is None or steps is None:
        return ()
    return (cutter.slices([cutter.axis(axis) for axis in axes], starts, stops, steps),)


def _of_strided_slice(cutter: _Cutter, step: Node) -> _Parts:
    starts, stops = cutter.integers(step, 1), cutter.integers(step, 2)
    count = len(starts or ())
    steps = cutter.integers(step, 3, [1] * count)
    masks = {name: step.integers(f"{name}_mask") or [] for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if starts is None or stops is None or steps is None or any(masks["ellipsis"]) or any(masks["new_axis"]):
        return ()
    set_in = {name: {axis for axis, bit in enumerate(mask[:count]) if bit} for name, mask in masks.items()}
    begins = [None if axis in set_in["begin"] else start for axis, start in enumerate(starts)]
    ends = [None if axis in set_in["end"] else stop for axis, stop in enumerate(stops)]
    return (cutter.slices([cutter.axis(axis) for axis in range(count)], begins, ends, steps, set_in["shrink_axis"]),)


_CUTS: dict[str, Callable[[_Cutter, Node], _Parts]] = {
    "Gather": _of_gather,
    "Slice": _of_slice,
    "Split": _of_split,
    "StridedSlice": _of_strided_slice,
    "VariadicSplit": _of_variadic_split,
}
"""The operations of OpenVINO and operators of ONNX that cut parts out."""
