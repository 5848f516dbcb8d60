"""What the inputs of layers are, where a port contradicts what feeds it."""

from __future__ import annotations

from ov_gather.ir.element_types import DYNAMIC, ElementType, by_name
from ov_gather.ir.model import Layer, Port, ValueId
from ov_gather.ir.shapes import ANY, UNKNOWN, PartialShape

Source = tuple[Layer, Port] | None


class Declared:
    """The inputs of layers, as the attributes and ports of what feeds them declare them."""

    def type_of(self, port: Port, source: Source) -> ElementType | None:
        """Return the element type of an input; None if it is unknown."""
        declared = source and (source[0].declared_type or source[1].element_type)
        return declared or port.element_type

    def shape_of(self, port: Port, source: Source) -> PartialShape:
        """Return the shape of an input, with the intervals that a Parameter declares."""
        return port.shape if source is None else source[0].declared_shape or source[1].shape

    def is_certain(self, source: tuple[Layer, Port]) -> bool:
        """Return True if nothing contradicts what an output port declares."""
        return True


class Doubts(Declared):
    """The same, with what is in doubt left open.

    In doubt are outputs that ports declare otherwise than their layers give, and edges of which the ends declare two things.
    """

    def __init__(self) -> None:
        self._certain: dict[ValueId, tuple[ElementType | None, PartialShape]] = {}
        self._declared: dict[ValueId, PartialShape] = {}

    def is_certain(self, source: tuple[Layer, Port]) -> bool:
        """Return True if the output port has not been found to contradict its layer."""
        return (source[0].id, source[1].id) not in self._certain

    def compare(self, layer: Layer, port: Port, kind: ElementType | None, shape: PartialShape) -> bool:
        """Return True if an output port declares what its layer gives; note it if not. The type None is any."""
        declared = port.element_type
        if declared is kind and shape.dims is not None and port.dims == shape.sizes:  # mostly
            return True
        stated = {kind} if kind is not None else _stated(layer)
        agrees = declared is None or not stated or declared in stated or DYNAMIC in stated
        if agrees and port.allows(shape):
            return True
        self._certain[layer.id, port.id] = (declared if agrees else None), common(port.dims, shape)
        return False

    def touch(self, layer: Layer, sources: list[Source]) -> bool:
        """Return True if an input of a layer is in doubt."""
        for port, source in zip(layer.inputs, sources, strict=True):
            if source is None:
                continue
            given, output = source
            if port.dims != output.dims or port.precision != output.precision or (given.id, output.id) in self._certain:
                return True
        return False

    def type_of(self, port: Port, source: Source) -> ElementType | None:
        """Return the element type of an input; None if it is unknown, or in doubt."""
        certain = source and self._certain.get((source[0].id, source[1].id))
        if certain is not None:
            return certain[0]
        found = super().type_of(port, source)
        return found if port.element_type in (None, found) else None

    def shape_of(self, port: Port, source: Source) -> PartialShape:
        """Return the shape of an input, open where it is in doubt."""
        if source is None:
            return port.shape
        value = source[0].id, source[1].id
        certain = self._certain.get(value)
        if certain is not None:
            return certain[1]
        shape = self._declared.get(value)
        if shape is None:
            shape = self._declared[value] = super().shape_of(port, source)
        return shape if port.dims == source[1].dims else common(port.dims, shape)


DECLARED = Declared()


def common(sizes: tuple[int, ...], shape: PartialShape) -> PartialShape:
    """Return what the dims of a port and a shape have in common: dimensions that differ are open, or the rank is."""
    if shape.dims is None or len(shape.dims) != len(sizes):
        return UNKNOWN
    pairs = zip(sizes, shape.dims, strict=True)
    return PartialShape(tuple(dim if size in dim or (size == -1 and not dim.is_static) else ANY for size, dim in pairs))


def _stated(layer: Layer) -> set[ElementType | None]:
    """Return the element types that the attributes of a layer name, which OVG306 compares with its ports."""
    named = {by_name(text) for name, text in layer.attributes.items() if name.endswith("type")}
    return named - {None}
