"""Layers made from one layer: with other attributes, element types and shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from ov_gather.crosscheck.cases.sizes import choose
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import ELEMENT_TYPES, ElementType
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import ANY, UNKNOWN, Dimension, PartialShape
from ov_gather.ops.fields import OperationError
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import LayerView, family_layers
from ov_gather.ops.spec import Attribute, Shapes

_NUMBERS: Mapping[str, Sequence[Any]] = {"int": (1, 2, 3, 0, -1, -2, 4, 8), "float": (0.5, 2.0, 1.0, 3.0, 0.25, 0.0, -1.0)}

_SMALLEST = 4
"""Size of the first open dimension; each following one is larger by 1."""


@dataclass(frozen=True)
class Variant:
    """A layer alone in a model. `what` tells how it differs from the layer with its defaults; "" if it does not."""

    what: str
    view: LayerView

    @property
    def model(self) -> Model:
        """The model that holds only this layer."""
        return self.view.graph


def changed(
    view: LayerView,
    *,
    attributes: Mapping[str, str] | None = None,
    types: Sequence[ElementType | None] = (),
    shapes: Sequence[PartialShape] = (),
) -> LayerView:
    """Return an isolated layer with other attributes, types or shapes; constants stay. Raises ValueError if they do not fit."""
    builder = ModelBuilder(view.layer.name or view.operation.type)
    inputs = []
    for port, given in enumerate(view.operation.inputs):
        kind = (types or view.input_types)[port]
        if kind is None:
            raise ValueError(f"the element type of {given.name} is unknown")
        value = view.constant(port)
        if value is None:
            inputs.append(builder.parameter(given.name, kind, (shapes or view.input_shapes)[port]))
        else:
            inputs.append(builder.const(given.name, kind, value))
    text = view.layer.attributes if attributes is None else attributes
    version = view.layer.version or view.operation.opsets[0]
    outputs = [(inputs[0].element_type, UNKNOWN) for _ in view.operation.outputs]  # isolating the layer infers them
    builder.layer(view.operation.type, builder.name, version, text, inputs, outputs)
    return next(family_layers(isolate(next(family_layers(builder.build())))))


def with_defaults(view: LayerView) -> LayerView:
    """Return a small layer without open dimensions, with every attribute at its default unless that is not valid."""
    own = dict(view.layer.attributes)
    for attribute in view.operation.attributes:
        if attribute.default is not None:
            found = _valid(view, {**own, attribute.name: attribute.text(attribute.default)})
            own = dict(found.layer.attributes) if found else own
    found = changed(view, attributes=own)
    return static(opened(found)) or static(found) or found


def static(view: LayerView) -> LayerView | None:
    """Return the layer with sizes chosen for open dimensions, different ones in each if they fit; None if there are none."""
    different = [_filled(shape) for shape in view.input_shapes]
    found = _valid(view, view.layer.attributes, shapes=different) or view
    sizes = choose(found, "some", found.read_attributes())
    return None if sizes is None else changed(view, shapes=[PartialShape.of(size) for size in sizes])


def opened(view: LayerView) -> LayerView:
    """Return the layer with all dimensions open, if valid sizes for them can be chosen; else as it is."""
    found = _valid(view, view.layer.attributes, shapes=[_open(shape) for shape in view.input_shapes])
    return found if found and choose(found, "some", found.read_attributes()) else view


def of_open_shapes(view: LayerView) -> Iterator[Variant]:
    """Yield the layer with all dimensions open, then of one input only, then with open ranks."""
    ports = [port for port in range(len(view.input_shapes)) if view.constant(port) is None]
    groups = [ports, *([port] for port in ports if len(ports) > 1)]
    for make in (_open, lambda shape: UNKNOWN):
        for group in groups:
            shapes = [make(shape) if port in group else shape for port, shape in enumerate(view.input_shapes)]
            if found := _valid(view, view.layer.attributes, shapes=shapes):
                names = ", ".join(f"{view.operation.inputs[port].name} {shapes[port]}" for port in ports)
                yield Variant(names, found)


def of_types(view: LayerView) -> Iterator[Variant]:
    """Yield the layer with each type of each input, or of all inputs if they must have the same."""
    yield Variant("", view)
    seen = {view.input_types}
    for port, given in enumerate(view.operation.inputs):
        for kind in given.element_types or ():
            here = view.input_types[port]
            alone = tuple(kind if i == port else other for i, other in enumerate(view.input_types))
            together = tuple(kind if other is here else other for other in view.input_types)
            for types in (alone, together):
                found = _valid(view, view.layer.attributes, types=types) if types not in seen else None
                seen.add(types)
                if found and all(_takes(found, i) for i in range(len(types))):
                    yield Variant(f"{given.name} of {kind}", found)
                    break


def _takes(view: LayerView, port: int) -> bool:
    allowed = view.operation.inputs[port].element_types or ELEMENT_TYPES
    return view.input_types[port] in allowed


def omitting(view: LayerView, attribute: Attribute) -> LayerView | None:
    """Return the layer without an attribute; None if that is not valid."""
    if attribute.default is None or attribute.required:
        return None
    return _valid(view, {name: text for name, text in view.layer.attributes.items() if name != attribute.name})


def with_other_values(view: LayerView, attribute: Attribute) -> Iterator[tuple[Any, LayerView]]:
    """Yield other valid values of an attribute, each with the layer that has it."""
    now = view.read_attributes()[attribute.name]
    for value in values_of(attribute, now, view.input_shapes):
        if value != now and (found := _valid(view, {**view.layer.attributes, attribute.name: attribute.text(value)})):
            yield value, found


def values_of(attribute: Attribute, now: Any, shapes: Shapes) -> Iterator[Any]:
    """Yield values to try for an attribute whose usual one is `now`; some may be out of range, none is infinite."""
    yield from attribute.examples
    if attribute.kind == "bool":
        yield not now
    elif attribute.kind in _NUMBERS:
        if valid := attribute.range_for(shapes):
            low, high = valid
            tried = (low, high) if attribute.kind == "int" else (low + (high - low) / 4, low + (high - low) / 2, low, high)
            yield from (value for value in tried if isfinite(value))
        yield from _NUMBERS[attribute.kind]
    elif attribute.kind in ("ints", "floats") and now is not None:
        yield tuple(reversed(now))
        yield tuple(number + 1 for number in now)
        yield tuple(2 * number for number in now)
    elif "|" in attribute.kind:
        yield from attribute.kind.split("|")


def _valid(
    view: LayerView,
    attributes: Mapping[str, str],
    types: Sequence[ElementType | None] = (),
    shapes: Sequence[PartialShape] = (),
) -> LayerView | None:
    """Return the changed layer; None if it is not valid."""
    try:
        found = changed(view, attributes=attributes, types=types, shapes=shapes)
        found.operation.restrict(found.input_shapes, found.read_attributes())
    except OperationError:  # the declaration is wrong, not the layer
        raise
    except ValueError:
        return None
    return found


def _filled(shape: PartialShape) -> PartialShape:
    """Give each open dimension a size of its own, so that no axis is taken for another."""
    if shape.dims is None:
        return shape
    sized = enumerate(shape.dims, _SMALLEST)
    return PartialShape(tuple(dim if dim.is_static else Dimension(size, size) for size, dim in sized))


def _open(shape: PartialShape) -> PartialShape:
    return UNKNOWN if shape.rank is None else PartialShape((ANY,) * shape.rank)
