"""A layer in its graph, interpreted by its operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ov_gather.ir.constants import constant
from ov_gather.ir.element_types import DYNAMIC, ElementType
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model, Port
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import OPERATIONS, find_operation, known_types
from ov_gather.ops.doubts import DECLARED, Declared
from ov_gather.ops.fields import OperationError
from ov_gather.ops.spec import Attributes, IndexRule, Operation, ShapeError, TypeRuleError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LayerView:
    """A layer with its operation. Input types and shapes come from the producer if there is one, as in OpenVINO's reader."""

    graph: Model
    layer: Layer
    operation: Operation
    inputs_by: Declared = field(default=DECLARED, compare=False, repr=False)

    @property
    def has_all_ports(self) -> bool:
        """True if the layer has as many inputs and outputs as the operation."""
        return len(self.layer.inputs) == len(self.operation.inputs) and len(self.layer.outputs) == len(self.operation.outputs)

    def producer(self, port: int) -> tuple[Layer, Port] | None:
        """Return the layer and output port that feed the input at this position; None if unknown."""
        return self.graph.producer(self.layer, self.layer.inputs[port])

    def read_attributes(self) -> dict[str, Any]:
        """Read the attributes, including those given by constant inputs. Raises ValueError if one is missing or wrong."""
        return self.operation.read_attributes(self.layer.attributes, self.input_shapes, self.attribute_values)

    def attributes_for(self, operands: Sequence[NDArray[Any]]) -> dict[str, Any]:
        """Read the attributes for given values of all inputs. Raises ValueError if one is missing or wrong."""
        shapes = [PartialShape.of(array.shape) for array in operands]
        return self.operation.read_attributes(self.layer.attributes, shapes, operands)

    @property
    def attribute_values(self) -> list[NDArray[Any] | None]:
        """The constants of inputs that serve as an attribute; None for other inputs, and if the payload cannot be read."""
        return [self._known(i) if given.attribute else None for i, given in enumerate(self.operation.inputs)]

    def _known(self, port: int) -> NDArray[Any] | None:
        source = self.producer(port)
        try:
            return self.constant(port) if source and self.inputs_by.is_certain(source) else None
        except IRError:  # the 5xx rules report it
            return None

    @cached_property
    def attributes(self) -> dict[str, Any] | None:
        """The attributes, including those given by constant inputs; None if one is missing or wrong."""
        try:
            return self.read_attributes()
        except OperationError:  # the declaration is wrong, not the layer
            raise
        except ValueError:
            return None

    @cached_property
    def input_types(self) -> tuple[ElementType | None, ...]:
        """The element type of each input; None if unknown."""
        return tuple(map(self._input_type, range(len(self.layer.inputs))))

    def _input_type(self, position: int) -> ElementType | None:
        port, source = self.layer.inputs[position], self.producer(position)
        if source is None and port.precision is None:
            return self.operation.inputs[position].assumed if self.graph.is_fragment else None
        return self.inputs_by.type_of(port, source)

    @cached_property
    def input_shapes(self) -> tuple[PartialShape, ...]:
        """The shape of each input, with the intervals that a Parameter declares."""
        return tuple(map(self._input_shape, range(len(self.layer.inputs))))

    def _input_shape(self, position: int) -> PartialShape:
        return self.inputs_by.shape_of(self.layer.inputs[position], self.producer(position))

    @cached_property
    def output_shapes(self) -> tuple[PartialShape, ...] | None:
        """The output shapes that the operation infers; None if the attributes or input shapes are invalid."""
        try:
            return None if self.attributes is None else self.operation.infer_shapes(self.input_shapes, self.attributes)
        except ShapeError:
            return None

    @cached_property
    def unaccepted(self) -> list[int]:
        """The positions of inputs of element types that the operation does not accept."""
        pairs = enumerate(zip(self.operation.inputs, self.input_types, strict=True))
        return [
            place for place, (given, kind) in pairs if given.element_types and kind not in (None, DYNAMIC, *given.element_types)
        ]

    @property
    def types_fit(self) -> bool:
        """True if the operation accepts the element types of the inputs, also together."""
        return not self.unaccepted and self.output_types is not None

    @cached_property
    def shape_error(self) -> ShapeError | None:
        """What is wrong with the shapes of the inputs; None if nothing is, or types or attributes are wrong."""
        if self.attributes is None or not self.types_fit:
            return None
        try:
            self.operation.infer_shapes(self.input_shapes, self.attributes)
            self.operation.restrict(self.input_shapes, self.attributes)
        except ShapeError as error:
            return error
        return None

    @property
    def output_types(self) -> tuple[ElementType | None, ...] | None:
        """The element types that the operation infers; None if those of the inputs contradict each other."""
        try:
            return self.operation.infer_types(self.input_types)
        except TypeRuleError:  # OVG308 reports it
            return None

    @property
    def operation_name(self) -> str:
        """The versioned name of the operation."""
        return self.operation.name

    @property
    def is_of_family(self) -> bool:
        """True if the operation is one of the gather family, not of a user."""
        return self.operation in OPERATIONS

    @property
    def index_rule(self) -> IndexRule:
        """The index rule of an operation that has one, as all of the gather family have."""
        assert self.operation.index_rule is not None
        return self.operation.index_rule

    @property
    def custom_version(self) -> tuple[str, Attributes] | None:
        """The type and attributes of the equivalent layer in our opset; None if there is none."""
        return None if self.attributes is None else self.operation.custom_version(self.attributes)

    @property
    def index_sizes(self) -> tuple[int, ...] | None:
        """The sizes of the dimensions that an index addresses, by the index rule; None while one is open."""
        rule = self.operation.index_rule
        return None if self.attributes is None or rule is None else rule.sizes(self.input_shapes, self.attributes)

    def is_constant(self, port: int) -> bool:
        """Return True if a Const feeds an input. Does not read the value, which may have gigabytes."""
        source = self.producer(port)
        return source is not None and source[0].type == "Const"

    def constant(self, port: int) -> NDArray[Any] | None:
        """Return the value of an input that a Const feeds, else None. Raises IRError if the payload cannot be read."""
        source = self.producer(port)
        return constant(self.graph, source[0]) if source and self.is_constant(port) else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The version and input types that a fragment omits and this package assumes, as texts for people."""
        if not self.graph.is_fragment:
            return ()
        version = () if self.layer.version else (self.operation.opsets[0],)
        types = (
            f"{given.assumed} {given.name}"
            for given, port in zip(self.operation.inputs, self.layer.inputs, strict=False)
            if port.precision is None
        )
        return (*version, *types)


def family_layers(graph: Model) -> Iterator[LayerView]:
    """Yield the layers of one graph that belong to the gather family, or to an operation that a user declares."""
    for layer in graph.of_type(*known_types()):
        operation = find_operation(layer)
        if operation:
            yield LayerView(graph, layer, operation)
