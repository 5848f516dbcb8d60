"""The layers of a graph, judged by the contracts of their operators."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ov_gather.contracts.call import MANY, Call, ContractError, Numbers, Output, UnjudgedError
from ov_gather.contracts.register import CONTRACTS
from ov_gather.graph.ir import decompresses
from ov_gather.ir.constants import payload
from ov_gather.ir.element_types import DYNAMIC, ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops import find_operation

_CODES = {"i64": "q", "u64": "Q", "i32": "i", "u32": "I", "i16": "h", "u16": "H", "i8": "b", "u8": "B", "f32": "f", "f64": "d"}
"""How `struct` names element types."""
Verdict = tuple[ContractError | None, list[Output]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A layer outside the gather family, and what the contract of its operator says of it.

    Attributes:
        error: what breaks the contract, if anything does.
        outputs: the element type and shape of each output; empty if they are unknown.
    """

    layer: Layer
    error: ContractError | None
    outputs: list[Output]

    @property
    def output_types(self) -> list[ElementType | None]:
        """The element types of the outputs, as far as they are known."""
        return [kind for kind, _ in self.outputs]

    @property
    def output_shapes(self) -> list[PartialShape]:
        """The shapes of the outputs, as far as they are known."""
        return [shape for _, shape in self.outputs]

    @property
    def operation_name(self) -> str:
        """The type and the opset."""
        return f"{self.layer.type} of {self.layer.version}"


class Judge:
    """Judges the layers of a graph. Where a port contradicts its contract, what reads it is judged by the contract's shape."""

    def __init__(self, graph: Model) -> None:
        self._graph = graph
        self._corrected: dict[int, PartialShape] = {}
        self._known: dict[tuple[object, ...], Verdict] = {}
        self._by_constants: set[str] = set()

    def judged(self) -> Iterator[Judged]:
        """Yield the layers that have a contract, in document order."""
        for layer in self._graph.layers:
            opset = _opset(layer)
            if layer.type in CONTRACTS and opset and find_operation(layer) is None and not decompresses(layer):
                error, outputs = self._verdict(layer, opset)
                for port, (_, shape) in zip(layer.outputs, outputs, strict=False):
                    if port.dims and PartialShape.of(port.dims).intersect(shape) is None:
                        self._corrected[id(port)] = shape
                yield Judged(layer, error, outputs)

    def _verdict(self, layer: Layer, opset: int) -> Verdict:
        sources = [self._graph.producer(layer, port) for port in layer.inputs]
        types = [_type(port, source) for port, source in zip(layer.inputs, sources, strict=True)]
        shapes = [self._shape(port, source) for port, source in zip(layer.inputs, sources, strict=True)]
        key: tuple[object, ...] = ()
        if layer.type not in self._by_constants:
            key = (layer.type, opset, tuple(layer.attributes.items()), tuple(types), tuple(shapes))
            if key in self._known:
                return self._known[key]

        def constant(port: int) -> Numbers | None:
            self._by_constants.add(layer.type)
            source = sources[port]
            return _numbers(self._graph, source[0]) if source is not None and source[0].type == "Const" else None

        found = _applied(Call(layer.type, opset, layer.attributes, types, shapes, constant))
        if key and layer.type not in self._by_constants:
            self._known[key] = found
        return found

    def _shape(self, port: Port, source: tuple[Layer, Port] | None) -> PartialShape:
        if source is None:
            return port.shape
        return self._corrected.get(id(source[1])) or source[0].declared_shape or source[1].shape


def _applied(call: Call) -> Verdict:
    try:
        return None, CONTRACTS[call.type].outputs(call)
    except ContractError as error:
        return error, []
    except (UnjudgedError, IndexError):
        return None, []


def _opset(layer: Layer) -> int:
    """Return the number of a layer's opset; 0 if it names none."""
    digits = (layer.version or "").removeprefix("opset")
    return int(digits) if digits.isdecimal() and len(digits) < 4 else 0


def _type(port: Port, source: tuple[Layer, Port] | None) -> ElementType | None:
    declared = source and (source[0].declared_type or source[1].element_type)
    found = declared or port.element_type
    return None if found is DYNAMIC else found


def _numbers(graph: Model, layer: Layer) -> Numbers | None:
    """Return the elements of a Const, flat; None if they are many, or cannot be read, which the rules 5xx report."""
    shape, kind = layer.declared_shape, layer.declared_type
    if shape is None or kind is None or kind.name not in _CODES or not shape.is_static:
        return None
    count = element_count(shape.sizes)
    if count > MANY:
        return None
    try:
        content = bytes(payload(graph, layer)[: kind.byte_size(count)])
    except IRError:
        return None
    return struct.unpack(f"<{count}{_CODES[kind.name]}", content)
