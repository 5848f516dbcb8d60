"""One graph of an IR, with the questions that the patterns of faults ask about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, Any

from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port, ValueId
from ov_gather.ir.shapes import UNKNOWN, PartialShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

VIEWS = ("Reshape", "Squeeze", "Unsqueeze")
"""Operations that keep the elements and their order."""
LAYERS = 64
"""Most layers that one question looks at, so that a whole model takes linear time."""
_LONGEST = 1 << 16
"""Most elements of a constant that is read: more are no axes, steps or factors."""
_EXACT = 1 << 24
"""Integers up to this one are exact in float32."""


def _unknown(layer: Layer, position: int) -> tuple[float, float]:
    return -inf, inf


def _no_size(layer: Layer, position: int, axis: int) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class PatternGraph:
    """A graph, and how values flow through it.

    Attributes:
        model: the graph: that of the model, or a body.
        bounds: the least and the greatest integer of an input of a layer, by range analysis.
        is_chosen: whether the size of an axis of an input of a layer is an open one of an input of the model or the body.
    """

    model: Model
    bounds: Callable[[Layer, int], tuple[float, float]] = _unknown
    is_chosen: Callable[[Layer, int, int], bool] = _no_size

    def source(self, layer: Layer, position: int = 0) -> tuple[Layer, Port] | None:
        """Return the layer and output port that feed an input; None if unknown."""
        return self.model.producer(layer, layer.inputs[position]) if position < len(layer.inputs) else None

    def producer(self, layer: Layer, position: int, *types: str) -> Layer | None:
        """Return the layer that feeds an input if it has one of these types, or any if there are none."""
        source = self.source(layer, position)
        return source[0] if source and (not types or source[0].type in types) else None

    def type(self, layer: Layer, position: int = 0) -> str:
        """Return the name of the element type of an input; "" if unknown."""
        source = self.source(layer, position)
        found: ElementType | None = source and (source[0].declared_type or source[1].element_type)
        return str(found or layer.inputs[position].element_type or "")

    def shape(self, layer: Layer, position: int = 0) -> PartialShape:
        """Return the shape of an input, with the intervals that a Parameter declares. The shape of a scalar is unknown."""
        source = self.source(layer, position)
        if source is None:
            return layer.inputs[position].shape if position < len(layer.inputs) else UNKNOWN
        return source[0].declared_shape or source[1].shape

    def const(self, layer: Layer, position: int) -> Layer | None:
        """Return the Const that feeds an input, possibly converted; None if it is computed."""
        found = self.viewed(layer, position, ("Convert",))
        return found[0] if found and found[0].type == "Const" else None

    def constant(self, layer: Layer, position: int) -> NDArray[Any] | None:
        """Return the numbers of an input from a Const, possibly converted; None if it is computed, or has too many elements."""
        const = self.const(layer, position)
        shape = None if const is None else const.declared_shape
        if const is None or shape is None or not shape.is_static or prod(shape.sizes) > _LONGEST:
            return None
        if const.id not in self._values:
            self._values[const.id] = self.value(const)
        return self._values[const.id]

    def value(self, layer: Layer) -> NDArray[Any] | None:
        """Return the numbers of a Const; None if it cannot be read, or holds strings."""
        try:
            found = constant(self.model, layer)
        except IRError:  # OVG5 reports it
            return None
        return None if found.dtype.kind == "O" else found

    @cached_property
    def _values(self) -> dict[int, NDArray[Any] | None]:
        return {}

    def is_small(self, layer: Layer, position: int) -> bool:
        """Return True if the integers of an input are exact in float32."""
        low, high = self.bounds(layer, position)
        return low >= -_EXACT and high <= _EXACT

    def readers(self, value: ValueId) -> Sequence[tuple[Layer, int]]:
        """Return the layers that read a value, and the positions of the inputs."""
        return self._readers.get(value, ())

    @cached_property
    def _readers(self) -> dict[ValueId, list[tuple[Layer, int]]]:
        found: dict[ValueId, list[tuple[Layer, int]]] = {}
        for layer in self.model.layers:
            for position in range(len(layer.inputs)):
                if source := self.source(layer, position):
                    found.setdefault((source[0].id, source[1].id), []).append((layer, position))
        return found

    def viewed(self, layer: Layer, position: int = 0, types: Sequence[str] = VIEWS) -> tuple[Layer, Port] | None:
        """Return what feeds an input, before the layers of these types; None if there are too many."""
        source = self.source(layer, position)
        for _ in range(LAYERS):
            if source is None or source[0].type not in types:
                return source
            source = self.source(source[0])
        return None

    def only_reader(self, layer: Layer) -> bool:
        """Return True if the value of a layer is read once, beside ShapeOf of a known shape, which OpenVINO folds."""
        return self._reader_counts[layer.id] == 1

    @cached_property
    def _reader_counts(self) -> Counter[int]:
        pairs = ((number, reader) for (number, _), readers in self._readers.items() for reader, _ in readers)
        return Counter(number for number, one in pairs if one.type != "ShapeOf" or not self.shape(one).is_static)

    def is_output(self, layer: Layer) -> bool:
        """Return True if a layer is an output of the model or body."""
        return layer.id in self._outputs

    @cached_property
    def _outputs(self) -> set[int]:
        return {source[0].id for result in self.model.of_type("Result") if (source := self.source(result))}

    def origins(self, layer: Layer, position: int, *, sizes: bool = False) -> Sequence[Layer]:
        """Return the layers that an input is computed by, if from constants alone, else none; `sizes` allows ShapeOf, too."""
        found: dict[int, Layer] = {}
        waiting = [self.source(layer, position)]
        while waiting:
            source = waiting.pop()
            if source is None or len(found) > LAYERS or source[0].bodies:
                return ()
            one = source[0]
            if one.id in found:
                continue
            found[one.id] = one
            if one.type == "ShapeOf" and (sizes or self.shape(one).is_static):
                continue
            if (not one.inputs and one.type != "Const") or one.type in ("ReadValue", "RandomUniform", "Multinomial"):
                return ()
            waiting += [self.source(one, i) for i in range(len(one.inputs))]
        return tuple(found.values())

    def depends_on(self, *layers: Layer) -> Iterator[Layer]:
        """Yield the layers that some layers are computed from."""
        seen, waiting = {layer.id for layer in layers}, list(layers)
        while waiting:
            one = waiting.pop()
            for position in range(len(one.inputs)):
                source = self.source(one, position)
                if source and source[0].id not in seen:
                    seen.add(source[0].id)
                    waiting.append(source[0])
                    yield source[0]
