"""The layers of a graph, judged by the contracts of their operators."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ov_gather.graph.ir import decompresses
from ov_gather.ir.constants import payload
from ov_gather.ir.element_types import DYNAMIC, INTEGERS, ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import LEAVES, Layer, Model, Port, ValueId
from ov_gather.ir.shapes import UNKNOWN, PartialShape, element_count
from ov_gather.ops import find_operation
from ov_gather.ops.contracts.call import MANY, Call, ContractError, Numbers, Output, UnjudgedError
from ov_gather.ops.contracts.folding import TYPES, folded
from ov_gather.ops.contracts.register import CONTRACTS, OURS, Row
from ov_gather.ops.contracts.sizes import MAX_RANK, of_few
from ov_gather.ops.doubts import Doubts, Source
from ov_gather.ops.layer_view import LayerView
from ov_gather.ops.spec import CUSTOM_OPSET

_CODES = {"i64": "q", "u64": "Q", "i32": "i", "u32": "I", "i16": "h", "u16": "H", "i8": "b", "u8": "B", "f32": "f", "f64": "d"}
"""How `struct` names element types."""
Verdict = tuple[ContractError | None, list[Output]]
_Contract = tuple[Row, int]


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
            port.allows(shape) and (kind is None or port.element_type in (None, kind))
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
    """Judges the layers of a graph, each by what its inputs are: where that is in doubt, it is open.

    In doubt is what a port, or an attribute, declares otherwise than the layer gives: one of the two is right. So one fault is
    reported where it begins, and not by each layer behind it.
    """

    def __init__(self, graph: Model) -> None:
        self.graph = graph
        self._doubts = Doubts()
        self._values: dict[ValueId, Numbers] = {}
        self._fine: set[tuple[object, ...]] = set()
        self._contracts: dict[tuple[str, str | None], _Contract | None] = {}

    def is_in_doubt(self, layer: Layer, output: Port) -> bool:
        """Return True if what a layer gives has been found to contradict what its output port declares."""
        return not self._doubts.is_certain((layer, output))

    def subjects(self) -> Iterator[LayerView | Judged]:
        """Yield the layers of the gather family, and those that break the contract of their operator, or contradict it.

        They come in document order, in which layers stand behind what they read.
        """
        for layer in self.graph.layers:
            if layer.is_leaf:
                self._doubt_leaf(layer)
                continue
            sources = [self.graph.producer(layer, port) for port in layer.inputs]
            if layer.type in TYPES:
                self._fold(layer, sources)
            operation = find_operation(layer)
            if operation is not None:
                view = LayerView(self.graph, layer, operation, self._doubts)
                if view.has_all_ports:  # OVG104 reports the others
                    yield view
                    self._doubt(layer, zip(view.output_types or (), view.output_shapes or (), strict=False))
                continue
            kind = layer.type, layer.version
            if kind not in self._contracts:
                self._contracts[kind] = _contract(layer)
            contract = self._contracts[kind]
            judged = self._judged(layer, contract, sources) if contract else None
            if judged is not None:
                yield judged

    def _judged(self, layer: Layer, contract: _Contract, sources: list[Source]) -> Judged | None:
        """Return a layer that breaks its contract, or contradicts it; else None."""
        # most layers of a model are like others
        key = None if self._doubts.touch(layer, sources) else self._key(layer, sources)
        if key in self._fine:
            return None
        row, opset = contract
        error, outputs = _applied(row, self._call(layer, opset, sources))
        judged = Judged(layer, error, [] if decompresses(layer) else outputs)
        self._doubt(layer, judged.outputs)
        if not judged.is_fine:
            return judged
        if key is not None:
            self._fine.add(key)
        return None

    def _doubt_leaf(self, layer: Layer) -> None:
        declared = layer.attributes.get("shape"), layer.attributes.get("element_type")
        key = (layer.type, *declared, *((port.dims, port.precision) for port in layer.outputs))  # most are like others
        if key not in self._fine and self._doubt(layer, [(layer.declared_type, layer.declared_shape or UNKNOWN)]):
            self._fine.add(key)

    def _doubt(self, layer: Layer, outputs: Iterable[Output]) -> bool:
        """Return True if the ports of a layer declare its outputs; note those that do not."""
        pairs = zip(layer.outputs, outputs, strict=False)
        agree = [self._doubts.compare(layer, port, kind, shape) for port, (kind, shape) in pairs]
        return all(agree)

    def _fold(self, layer: Layer, sources: list[Source]) -> None:
        """Note the integers that a layer computes from known ones, if there are few."""
        are_known = layer.type == "ShapeOf" or all(
            source is not None and (source[0].type == "Const" or (source[0].id, source[1].id) in self._values)
            for source in sources
        )
        if are_known and layer.outputs and layer.outputs[0].element_type in INTEGERS:
            for port, numbers in zip(layer.outputs, folded(self._call(layer, 1, sources)), strict=False):
                self._values[layer.id, port.id] = numbers

    def _key(self, layer: Layer, sources: list[Source]) -> tuple[object, ...]:
        given: list[object] = [layer.type, layer.version, *layer.attributes, *layer.attributes.values()]
        for source, port in zip(sources, layer.inputs, strict=True):
            if source is None:
                given.append((port.dims, port.precision))
            elif source[0].type in LEAVES:
                given.append(tuple(source[0].attributes.values()))
            else:
                dims = source[1].dims[: MAX_RANK + 1]  # a hub is read by many
                given.append((dims, source[1].precision, self._values.get((source[0].id, source[1].id))))
        given += [(port.dims, port.precision) for port in layer.outputs]
        return tuple(given)

    def _call(self, layer: Layer, opset: int, sources: list[Source]) -> Call:
        pairs = list(zip(layer.inputs, sources, strict=True))
        types = [None if (kind := self._doubts.type_of(*pair)) is DYNAMIC else kind for pair in pairs]
        shapes = [of_few(self._doubts.shape_of(*pair)) for pair in pairs]

        def constant(port: int) -> Numbers | None:
            numbers, shape = self._numbers(sources[port]), shapes[port]
            count = element_count(shape.sizes) if shape.is_static else 1 if shape.dims is None else None  # a scalar has no dims
            return numbers if numbers is not None and len(numbers) == count else None

        return Call(layer.type, opset, layer.attributes, types, shapes, constant, len(layer.outputs))

    def _numbers(self, source: Source) -> Numbers | None:
        """Return the elements of a value that is a constant, or is computed from constants; None if it is not, or in doubt."""
        if source is None or not self._doubts.is_certain(source):
            return None
        value = source[0].id, source[1].id
        if source[0].type == "Const" and value not in self._values:
            found = _numbers(self.graph, source[0])
            if found is not None:
                self._values[value] = found
        return self._values.get(value)


def _applied(row: Row, call: Call) -> Verdict:
    try:
        return None, row.outputs(call)
    except ContractError as error:
        return error, []
    except UnjudgedError:
        return None, []


def _contract(layer: Layer) -> _Contract | None:
    """Return the contract by which a layer is judged, and the number of its opset; None if there is none."""
    is_ours = layer.version == CUSTOM_OPSET
    row = (OURS if is_ours else CONTRACTS).get(layer.type)
    digits = "1" if is_ours else (layer.version or "").removeprefix("opset")
    return (row, int(digits)) if row and digits.isdecimal() and len(digits) < 4 else None


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
