"""The read-only graph that analyses run on: nodes, the tensors between them, and bodies.

Adapters build it from an IR (`graph.ir`), an `openvino.Model` (`graph.openvino`) or an ONNX model (in `converters`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from ov_gather.graph.symbols import Dim
from ov_gather.ir.bodies import Slicing
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.shapes import PartialShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = Hashable
"""Identity of a tensor; unique across the model and its bodies."""
LOOPS = ("Loop", "Scan", "TensorIterator")
"""The operators that repeat a body."""
OF_SHAPES = ("Shape", "ShapeOf", "Size")
"""The operators whose outputs depend on the shape of their input alone."""


class Passing(Enum):
    """How a tensor is passed into a body, or out of it."""

    WHOLE = "as it is"
    SLICED = "a slice along an axis for each iteration; or the slices of all iterations"
    CARRIED = "as it is at first, and from then on what the iteration before has made of it"
    COUNT = "the number of the iteration"


@dataclass(frozen=True, slots=True)
class BodyEdge:
    """An edge between a tensor outside of a body and one inside: an entry or an exit.

    Attributes:
        outer: the tensor outside; None for the iteration counter.
        inner: the tensor in the body.
        next: for a carried value, the tensor in the body at the source of the back edge.
        slicing: for a sliced one, the slices; a `part_size` of 0 stands for slices of size 1 without their axis, as in ONNX.
            None if it is unknown.
    """

    outer: Key | None
    inner: Key
    passing: Passing = Passing.WHOLE
    next: Key | None = None
    slicing: Slicing | None = None

    @property
    def axis(self) -> int | None:
        """The axis of the slices."""
        return self.slicing.axis if self.slicing else None


@dataclass(frozen=True, slots=True)
class Body:
    """A body of a node: a branch of If, or what Loop, Scan and TensorIterator repeat.

    Attributes:
        id: what the graph knows it by.
        entries, exits: the edges into and out of it.
        condition: for a branch, the value of the first input of If that selects it; otherwise None.
        goes_on: for Loop, the tensor in the body that is true if another iteration follows; otherwise None.
    """

    id: Hashable
    entries: Sequence[BodyEdge]
    exits: Sequence[BodyEdge]
    condition: bool | None = None
    goes_on: Key | None = None

    @property
    def ends(self) -> list[Key]:
        """The tensors that leave an iteration: exits, and sources of back edges."""
        return [*(edge.inner for edge in self.exits), *(edge.next for edge in self.entries if edge.next is not None)]


@dataclass(slots=True, eq=False)  # not frozen: a model has many
class Node:
    """One operation of a graph. In graphs of OpenVINO that includes Parameter, Const and Result.

    Attributes:
        type: the operator, as the model names it; "domain.type" for an ONNX node of another domain than the default one.
        opset: e.g. "opset8"; empty for ONNX.
        name: the name in its graph.
        path: the way to its graph, e.g. ("If 'x'", "then_body"); empty at the top level.
        inputs: None for an input that nothing feeds.
        attributes: by name; texts, as an IR writes them, or values of ONNX.
        within: for a node of a body, an output of the node at the top level that contains it.
        decompresses: whether it is a Convert that save_model inserts behind a compressed constant.
        line: the line in the document; 0 if unknown.
        handle: the `Layer`, `openvino.Node` or `onnx_ir.Node`.
    """

    type: str
    opset: str
    name: str
    path: tuple[str, ...]
    inputs: Sequence[Key | None]
    outputs: Sequence[Key]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    bodies: Sequence[Body] = ()
    within: Key | None = None
    decompresses: bool = False
    line: int = 0
    handle: Any = None

    def __str__(self) -> str:
        return f"{self.type} '{self.name}'"

    @property
    def is_input(self) -> bool:
        """True for a Parameter."""
        return self.type == "Parameter"

    @property
    def is_output(self) -> bool:
        """True for a Result."""
        return self.type == "Result"

    @property
    def sources(self) -> list[Key]:
        """The tensors that feed it."""
        return [key for key in self.inputs if key is not None]

    @property
    def full_name(self) -> str:
        """The name behind those of the nodes around it."""
        return "/".join((*self.path, self.name))

    @property
    def repeats(self) -> bool:
        """True for a loop."""
        return bool(self.bodies) and self.type in LOOPS

    @property
    def trips(self) -> Key | None:
        """The tensor that holds the maximum trip count of a loop; None if there is none."""
        return self.inputs[0] if self.bodies and self.type == "Loop" and self.inputs else None

    @property
    def reads_shapes_only(self) -> bool:
        """True if the outputs depend on the shapes of the inputs alone."""
        return self.type in OF_SHAPES

    def integer(self, name: str, default: int = 0) -> int:
        """Return an integer attribute."""
        return int(self.attributes.get(name, default))

    def integers(self, name: str) -> list[int] | None:
        """Return an attribute that is a list of integers, e.g. a mask; None if it is absent."""
        given = self.attributes.get(name)
        words = [word for word in given.split(",") if word.strip()] if isinstance(given, str) else given
        return None if words is None else [int(word) for word in words]

    def is_set(self, name: str) -> bool:
        """Return a boolean attribute; False if it is absent."""
        return str(self.attributes.get(name, "")).lower() in ("true", "1")

    def text(self, name: str, default: str = "") -> str:
        """Return a string attribute."""
        return str(self.attributes.get(name, default))


class Graph(Protocol):
    """A model with its bodies."""

    @property
    def inputs(self) -> Mapping[str, Key]:
        """The inputs of the model, by name."""

    @property
    def input_count(self) -> int:
        """The number of inputs, which may share a name."""

    def nodes(self, *types: str, of: Collection[str] = ()) -> Iterable[Node]:
        """Return the nodes of these types, bodies included, or all if none are given; in the order of the model.

        If `of` has names of element types, only those whose first output has one of them.
        """

    def nodes_in(self, body: Body | None) -> Iterable[Node]:
        """Return the nodes of a body, or of the main graph for None, without those of bodies in it."""

    def producer(self, key: Key) -> Node | None:
        """Return the node that makes a tensor; None if there is none, as for an input of ONNX."""

    def uses(self, key: Key) -> Iterable[tuple[Node, int]]:
        """Return the nodes that read a tensor, each with the position of the input."""

    def type_of(self, key: Key) -> ElementType | None:
        """Return the element type of a tensor; None if it is unknown."""

    def shape_of(self, key: Key) -> PartialShape:
        """Return the declared or inferred shape of a tensor."""

    def size_symbol(self, key: Key, axis: int) -> Dim:
        """Return the symbol of an open size. Sizes with one symbol are equal."""

    def is_constant(self, key: Key) -> bool:
        """Return True for a constant, without reading it."""

    def constant(self, key: Key) -> NDArray[Any] | None:
        """Return the elements of a constant; None for other tensors, and for constants that cannot be read."""

    def name_of(self, key: Key) -> str:
        """Return the display name of a tensor."""
