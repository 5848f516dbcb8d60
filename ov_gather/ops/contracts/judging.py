"""The layers of a graph, judged by the contracts of their operators."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ov_gather.ir.constants import payload
from ov_gather.ir.element_types import DYNAMIC, ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import LEAVES, Layer, Model, Port, ValueId
from ov_gather.ir.shapes import PartialShape, element_count
from ov_gather.ops import find_operation
from ov_gather.ops.contracts.call import MANY, Call, ContractError, Numbers, Output, UnjudgedError
from ov_gather.ops.contracts.register import CONTRACTS
from ov_gather.ops.contracts.sizes import MAX_RANK, of_few

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
    def is_fine(self) -> bool:
        """True if nothing breaks the contract, and each output port declares what it says."""
        return self.error is None and all(
            port.may_have(shape) and (kind is None or port.element_type in (None, kind))
            for port, (kind, shape) in zip(self.layer.outputs, self.outputs, strict=False)
        )

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
        self._shapes: dict[ValueId, PartialShape] = {}
        self._corrected: dict[ValueId, PartialShape] = {}
        self._fine: set[tuple[object, ...]] = set()
        self._opsets: dict[tuple[str, str | None], int] = {}

    def judged(self) -> Iterator[Judged]:
        """Yield the layers that break the contract of their operator, or contradict it, in document order."""
        for layer in self._graph.layers:
            kind = layer.type, layer.version
            opset = self._opsets.get(kind)
            if opset is None:
                opset = self._opsets[kind] = _opset(layer)
            if not opset:
                continue
            sources = [self._graph.producer(layer, port) for port in layer.inputs]
            key = self._key(layer, sources)  # most layers of a model are like others
            if key in self._fine:
                continue
            judged = self._judgement(layer, opset, sources)
            if judged.is_fine:
                self._fine.add(key)
            else:
                self._correct(judged)
                yield judged

    def _key(self, layer: Layer, sources: list[tuple[Layer, Port] | None]) -> tuple[object, ...]:
        given: list[object] = [layer.type, layer.version, *layer.attributes, *layer.attributes.values()]
        for source, port in zip(sources, layer.inputs, strict=True):
            if source is None:
                given.append((port.dims, port.precision))
            elif source[0].type in LEAVES:
                given.append(tuple(source[0].attributes.values()))
            else:
                corrected = self._corrected.get((source[0].id, source[1].id)) if self._corrected else None
                given.append((source[1].dims[: MAX_RANK + 1], source[1].precision, corrected))  # a hub is read by many
        given += [(port.dims, port.precision) for port in layer.outputs]
        return tuple(given)

    def _judgement(self, layer: Layer, opset: int, sources: list[tuple[Layer, Port] | None]) -> Judged:
        types = [_type(port, source) for port, source in zip(layer.inputs, sources, strict=True)]
        shapes = [self._shape(port, source) for port, source in zip(layer.inputs, sources, strict=True)]

        def constant(port: int) -> Numbers | None:
            source = sources[port]
            return _numbers(self._graph, source[0]) if source is not None and source[0].type == "Const" else None

        return Judged(layer, *_applied(Call(layer.type, opset, layer.attributes, types, shapes, constant, len(layer.outputs))))

    def _correct(self, judged: Judged) -> None:
        """Keep the shapes of the contract that no port of the layer can have as it declares."""
        for port, (_, shape) in zip(judged.layer.outputs, judged.outputs, strict=False):
            if port.dims and PartialShape.of(port.dims).intersect(shape) is None:
                value = judged.layer.id, port.id
                self._corrected[value] = self._shapes[value] = of_few(shape)

    def _shape(self, port: Port, source: tuple[Layer, Port] | None) -> PartialShape:
        if source is None:
            return of_few(port.shape)
        layer, output = source
        value = layer.id, output.id
        if value not in self._shapes:
            self._shapes[value] = of_few(layer.declared_shape or output.shape)
        return self._shapes[value]


def _applied(call: Call) -> Verdict:
    try:
        return None, CONTRACTS[call.type].outputs(call)
    except ContractError as error:
        return error, []
    except (UnjudgedError, IndexError):
        return None, []


def _opset(layer: Layer) -> int:
    """Return the number of the opset by whose contract a layer is judged; 0 if there is none."""
    digits = (layer.version or "").removeprefix("opset")
    is_judged = layer.type in CONTRACTS and digits.isdecimal() and len(digits) < 4 and find_operation(layer) is None
    return int(digits) if is_judged else 0


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
