"""A graph, with the questions that the patterns of faults ask about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, Any

from ov_gather.graph.protocol import LOOPS, Graph, Key, Node, Passing
from ov_gather.ir.shapes import UNKNOWN, PartialShape
from ov_gather.ops.table import OPENVINO, Trait, where
from ov_gather.system.traversal import reachable

if TYPE_CHECKING:
    from numpy.typing import NDArray

VIEWS = ("Reshape", "Squeeze", "Unsqueeze")
"""Operations that keep the elements and their order."""
CONVERSIONS = ("Convert", "ConvertLike")
"""Operations that change the element type alone."""
LAYERS = 64
"""Most nodes that one question looks at, so that a whole model takes linear time."""
UNFOLDED = where(OPENVINO, lambda op: Trait.UNFOLDED in op.traits)
_LONGEST = 1 << 16
"""Most elements of a constant that is read: more are no axes, steps or factors."""


class Known:
    """What is known of the numbers that a graph computes: nothing, unless range analysis overrides this."""

    def bounds(self, node: Node, position: int) -> tuple[float, float]:
        """Return the least and the greatest integer of an input of a node."""
        return -inf, inf

    def is_small(self, node: Node, position: int) -> bool:
        """Return True if the integers of an input of a node are exact in float32. Sizes of tensors are taken to be."""
        return False

    def is_chosen(self, node: Node, position: int, axis: int) -> bool:
        """Return True if the size of an axis of an input of a node is an open one of an input of the model or the body."""
        return False


@dataclass(frozen=True)
class PatternGraph:
    """A graph, and how values flow through it.

    Attributes:
        graph: the graph.
        known: what is known of the numbers.
    """

    graph: Graph
    known: Known = field(default_factory=Known)
    _values: dict[Key, NDArray[Any] | None] = field(default_factory=dict)
    _readings: dict[Node, list[Node]] = field(default_factory=dict)
    _ends: dict[Node, bool] = field(default_factory=dict)
    _origins: dict[tuple[Node, int, bool], Sequence[Node]] = field(default_factory=dict)

    def source(self, node: Node, position: int = 0) -> Key | None:
        """Return the tensor that feeds an input; None if unknown."""
        return node.inputs[position] if position < len(node.inputs) else None

    def producer(self, node: Node, position: int = 0, *types: str) -> Node | None:
        """Return the node that feeds an input if it has one of these types, or any if there are none."""
        source = self.source(node, position)
        found = None if source is None else self.graph.producer(source)
        return found if found and (not types or found.type in types) else None

    def type(self, node: Node, position: int = 0) -> str:
        """Return the name of the element type of an input; "" if unknown."""
        source = self.source(node, position)
        return "" if source is None else str(self.graph.type_of(source) or "")

    def shape(self, node: Node, position: int = 0) -> PartialShape:
        """Return the shape of an input."""
        source = self.source(node, position)
        return UNKNOWN if source is None else self.graph.shape_of(source)

    def made_type(self, node: Node) -> str:
        """Return the name of the element type of the first output."""
        return str(self.graph.type_of(node.outputs[0]) or "")

    def made(self, node: Node) -> PartialShape:
        """Return the shape of the first output."""
        return self.graph.shape_of(node.outputs[0])

    def const(self, node: Node, position: int) -> Key | None:
        """Return the constant that feeds an input, maybe converted or broadcast to its own shape; None if it is computed."""
        found = self.viewed(node, position, ("Convert",))
        made = None if found is None else self.graph.producer(found)
        if made and made.type == "Broadcast" and self.shape(made).is_static and self.shape(made) == self.made(made):
            found = self.viewed(made, 0, ("Convert",))
        return found if found is not None and self.graph.is_constant(found) else None

    def constant(self, node: Node, position: int) -> NDArray[Any] | None:
        """Return the numbers of a constant input, possibly converted; None if it is computed, or has too many elements."""
        const = self.const(node, position)
        shape = UNKNOWN if const is None else self.graph.shape_of(const)
        if const is None or not shape.is_static or prod(shape.sizes) > _LONGEST:
            return None
        if const not in self._values:
            self._values[const] = self.value(const)
        return self._values[const]

    def value(self, const: Key) -> NDArray[Any] | None:
        """Return the numbers of a constant; None if it cannot be read, or holds strings."""
        found = self.graph.constant(const)
        return None if found is None or found.dtype.kind == "O" else found

    def readers(self, value: Key) -> list[Node]:
        """Return the nodes that read a tensor, once for each input."""
        return [node for node, _ in self.graph.uses(value)]

    def viewed(self, node: Node, position: int, types: Sequence[str]) -> Key | None:
        """Return what feeds an input, before the nodes of these types; None if there are too many."""
        return self.before(self.source(node, position), types)

    def before(self, key: Key | None, types: Sequence[str]) -> Key | None:
        """Return the tensor before the nodes of these types, by their first inputs; None if there are too many."""
        for _ in range(LAYERS):
            found = None if key is None else self.graph.producer(key)
            if found is None or found.type not in types:
                return key
            key = self.source(found)
        return None

    def only_reader(self, node: Node) -> bool:
        """Return True if the value of a node is read once, beside ShapeOf of a known shape, which OpenVINO folds."""
        return len(self._reading(node)) == 1

    def only_node(self, node: Node) -> bool:
        """Return True if one node reads the value of a node, maybe twice, as Select(true, x, x), which is removed.

        Nodes that read its shape do not count: OpenVINO removes a Reshape to its own shape together with that.
        """
        readers = (one for one in self._reading(node) if one.type != "ShapeOf")
        first = next(readers, None)
        return first is not None and all(one is first for one in readers)

    def _reading(self, node: Node) -> list[Node]:
        if node not in self._readings:  # each of its readers may ask
            readers = [one for key in node.outputs for one in self.readers(key)]
            self._readings[node] = [one for one in readers if not self._is_folded_shape(one)]
        return self._readings[node]

    def _is_folded_shape(self, node: Node) -> bool:
        """Return True for a ShapeOf of a known shape, or one that only the rank is taken of."""
        if node.type != "ShapeOf":
            return False
        return self.shape(node).is_static or all(one.type == "ShapeOf" for key in node.outputs for one in self.readers(key))

    def is_output(self, node: Node) -> bool:
        """Return True if a node is an output of the model or body."""
        if node not in self._ends:
            self._ends[node] = any(one.is_output for key in node.outputs for one in self.readers(key))
        return self._ends[node]

    @cached_property
    def reverses_axes(self) -> bool:
        """Whether a Transpose has an order without elements, which reverses the axes."""
        orders = (self.constant(node, 1) for node in self.graph.nodes("Transpose"))
        return any(order is not None and order.size == 0 for order in orders)

    @cached_property
    def moves_nothing(self) -> bool:
        """Whether a Transpose reads a tensor without elements."""
        return any(dim.upper == 0 for node in self.graph.nodes("Transpose") for dim in self.shape(node).dims or ())

    @cached_property
    def unchanged(self) -> dict[Key, Key]:
        """The tensors outside of loops that each iteration receives as they are, by those inside."""
        edges = [edge for node in self.graph.nodes(*LOOPS) for body in node.bodies for edge in body.entries]
        return {edge.inner: edge.outer for edge in edges if edge.passing is Passing.WHOLE and edge.outer is not None}

    def origins(self, node: Node, position: int, *, sizes: bool = False) -> Sequence[Node]:
        """Return the nodes that an input is computed by, if from constants alone, else none; `sizes` allows ShapeOf, too."""
        asked = node, position, sizes
        if asked not in self._origins:
            self._origins[asked] = self._found_origins(node, position, sizes)
        return self._origins[asked]

    def _found_origins(self, node: Node, position: int, sizes: bool) -> Sequence[Node]:
        found: dict[Node, None] = {}
        waiting = [self.producer(node, position)]
        while waiting:
            one = waiting.pop()
            if one is None or len(found) > LAYERS or one.bodies:
                return ()
            if one in found:
                continue
            found[one] = None
            if one.type == "ShapeOf" and (sizes or self.shape(one).is_static):
                continue
            if (not one.inputs and one.type != "Const") or one.type in ("ReadValue", "RandomUniform", "Multinomial"):
                return ()
            waiting += [self.producer(one, i) for i in range(len(one.inputs))]
        return tuple(found)

    def is_folded(self, node: Node, position: int) -> bool:
        """Return True if OpenVINO computes an input while it compiles the model, exactly."""
        found = self.origins(node, position)
        return bool(found) and not any(self._is_executed(one) for one in found)

    def _is_executed(self, node: Node) -> bool:
        """Return True for a node that OpenVINO executes even of constants, as products and negatives of bytes."""
        is_of_bytes = node.type in ("Multiply", "Negative") and self.made_type(node) in ("i8", "u8")
        factor = self.constant(node, 1) if is_of_bytes else None
        return node.type in UNFOLDED or (is_of_bytes and (factor is None or bool((factor != 1).any())))  # by 1: removed

    def depends_on(self, keys: Sequence[Key]) -> Iterator[Node]:
        """Yield the nodes that compute some tensors; shapes do not count."""

        def before(node: Node) -> list[Node]:
            inputs = () if node.type == "ShapeOf" else range(len(node.inputs))
            return [one for i in inputs if (one := self.producer(node, i))]

        return reachable([one for key in keys if (one := self.graph.producer(key))], before)
