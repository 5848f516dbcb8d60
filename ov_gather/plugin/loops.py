"""Faults in Loop and TensorIterator: states that share memory, and parts of bodies that nothing reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ov_gather.graph.protocol import Body, Key, Node, Passing
from ov_gather.ir.bodies import Slicing
from ov_gather.ir.model import LEAVES
from ov_gather.ir.shapes import ANY, Dimension
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, VIEWS, PatternGraph
from ov_gather.plugin.removed import before_removed, producer_before_removed, returned_input

_UNARY = (
    *("Abs", "Ceiling", "Clamp", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSwish", "Log", "Mish", "Negative", "ReLU"),
    *("Round", "Sigmoid", "Sign", "Sin", "SoftPlus", "Sqrt", "Swish", "Tanh"),
)
_OVER_ELEMENT = ("Add", "Maximum", "Minimum", "Mod", "Multiply", "PReLU", "Power")
"""Arithmetic that is computed in the memory of its first operand even if that is the element itself."""
_BINARY = (*_OVER_ELEMENT, "Divide", "Subtract")
"""Arithmetic that is computed in the memory of its first operand if the second one is a constant vector."""
_OF_EITHER_SIDE = ("Add", "Divide", "Maximum", "Minimum", "Multiply", "Subtract")
"""Arithmetic with a constant that is fused with what computes the other operand, be it the first or the second."""
_NAMES = (*VIEWS, "Identity")
"""Operations whose result is another name of what they read."""


@dataclass(frozen=True, eq=False)
class _Loop:
    """The body of a loop, with its states: pairs of the tensor that holds one and the tensor of the next."""

    graph: PatternGraph
    body: Body

    @cached_property
    def states(self) -> list[tuple[Key, Key]]:
        return [(edge.inner, edge.next) for edge in self.body.entries if edge.next is not None]

    @cached_property
    def elements(self) -> list[Key]:
        """The tensors that are a slice of an input in each iteration."""
        return [edge.inner for edge in self.body.entries if edge.passing is Passing.SLICED]

    def reads(self, state: Key) -> int:
        return len(self.graph.readers(state))

    def named(self, key: Key | None, before: Callable[[PatternGraph, Node], Key | None] = before_removed) -> Iterator[Key]:
        """Yield a tensor, and those that it is another name of, before views and layers that OpenVINO removes."""
        for _ in range(LAYERS):
            if key is None:
                return
            yield key
            found = self.graph.graph.producer(key)
            if found is None:
                return
            key = self.graph.source(found) if found.type in _NAMES else before(self.graph, found)

    def original(self, key: Key | None) -> Node | None:
        """Return the node that computes a tensor, before other names of it; layers that undo one another stay."""
        return None if key is None else self.graph.graph.producer([*self.named(key, _before_neutral)][-1])

    def is_element(self, key: Key | None) -> bool:
        """Return True if a tensor is an element, or another name of one, that nothing else reads."""
        names = [*self.named(key)]
        made = [self.graph.graph.producer(one) for one in names]
        return bool(names) and names[-1] in self.elements and all(one and self.graph.only_node(one) for one in made)

    def is_changed_element(self, key: Key | None) -> bool:
        """Return True for arithmetic of an element with a constant vector, which is computed in its memory."""
        found = self.original(key)
        if found is None or found.type not in _BINARY:
            return False
        vector = self.graph.producer(found, 1, "Const")
        is_of_vectors = vector is not None and bool(self.graph.shape(found, 1).sizes) and self.graph.shape(found).is_static
        return is_of_vectors and self.is_element(found.inputs[0])


def _before_neutral(graph: PatternGraph, node: Node) -> Key | None:
    position = None if graph.is_output(node) else returned_input(graph, node)
    return None if position is None else graph.source(node, position)


def _loops(graph: PatternGraph, node: Node) -> Iterator[_Loop]:
    if len(node.bodies) == 1:
        yield _Loop(graph, node.bodies[0])


def _delayed(graph: PatternGraph, node: Node) -> bool:
    """Return True if the next state is an element, possibly changed in its place, and the body reads the state."""
    for loop in _loops(graph, node):
        for state, following in loop.states:
            is_element = not set(loop.elements).isdisjoint(loop.named(following))
            if loop.reads(state) and (is_element or loop.is_changed_element(following)):
                return True
    return False


def _accumulates(graph: PatternGraph, node: Node) -> bool:
    """Return True if the next state is computed in the memory of an element."""
    for loop in _loops(graph, node):
        for state, following in loop.states:
            last = graph.graph.producer(following)
            if last and (fused := _fused_operand(graph, last)) is not None:
                last = graph.producer(last, fused)
            if last is None or last.type not in _BINARY or not graph.made(last).is_static:
                continue
            first, second = last.inputs
            if loop.is_changed_element(first) or (last.type in _OVER_ELEMENT and loop.is_element(first)):
                is_met = second == state or graph.only_reader(last)
            else:
                changed = loop.original(second)
                is_negated = last.type == "Subtract" and changed is not None and changed.type in ("Add", "Subtract")
                is_fused = last.type not in ("Mod", "Power") and not is_negated
                is_state = first == state or graph.producer(last, 0, "MatMul") is not None
                is_met = is_state and is_fused and loop.is_changed_element(second)
            if is_met and any(state in one.outputs for one in graph.depends_on(last.outputs)):
                return True
    return False


def _fused_operand(graph: PatternGraph, node: Node) -> int | None:
    """Return the operand of what the plugin fuses with the operation before it; None if it does not fuse the node."""
    if node.type in _UNARY or (node.type in _BINARY and graph.producer(node, 1, "Const")):
        return 0
    return 1 if node.type in _OF_EITHER_SIDE and graph.producer(node, 0, "Const") else None


def _no_element(graph: PatternGraph, node: Node) -> bool:
    """Return True if no result of the body depends on an element, but a state changes, or slices are joined."""
    for loop in _loops(graph, node):
        read = {key for one in graph.depends_on(loop.body.ends) for key in one.outputs}
        is_told = _joins(node) or any(one != other for one, other in loop.states)
        if loop.elements and is_told and read.isdisjoint(loop.elements):
            return True
    return False


def _begins_within(graph: PatternGraph, node: Node) -> bool:
    """Return True if the slices of an input are others than the plugin takes."""
    sliced = [
        (edge.slicing, graph.graph.shape_of(edge.outer).dims)
        for body in node.bodies
        for edge in body.entries
        if edge.slicing is not None and edge.outer is not None
    ]
    return any(_is_misread(slicing, dims[slicing.axis] if dims else ANY) for slicing, dims in sliced)


def _is_misread(slicing: Slicing, length: Dimension) -> bool:
    """Return True if slices do not begin at an end of the axis, overlap, or are taken backwards and leave gaps."""
    stride, size = slicing.stride, slicing.part_size
    ends = {0 if stride > 0 else -1}
    if length.is_static:
        ends.add(-1 - length.lower if stride > 0 else length.lower)
    return slicing.start not in ends or size > abs(stride) or size < -stride


def _no_iteration(graph: PatternGraph, node: Node) -> bool:
    """Return True if there may be no iteration, and the body does not read a state."""
    trips, condition = (graph.constant(node, i) for i in (0, 1))
    if trips is not None and condition is not None and trips.all() and condition.all():
        return False
    states = [pair for loop in _loops(graph, node) for pair in loop.states]
    return any(not _is_read(graph, state) and str(graph.graph.type_of(following)) != "boolean" for state, following in states)


def _is_read(graph: PatternGraph, state: Key) -> bool:
    """Return True if a node of a body reads a state: not its known shape, nor to hand it to a body that does not read it."""
    for node, _ in graph.graph.uses(state):
        handed = [edge.inner for body in node.bodies for edge in body.entries if edge.outer == state]
        is_folded = node.type == "ShapeOf" and graph.shape(node).is_static
        if not is_folded and (not handed or any(_is_read(graph, inner) for inner in handed)):
            return True
    return False


def _view_of_another(graph: PatternGraph, node: Node) -> bool:
    """Return True if the next state is a view of an earlier state, which is computed anew before."""
    for loop in _loops(graph, node):
        held, written = [state for state, _ in loop.states], set[Key]()
        for state, following in loop.states:
            named, source = (graph.before(following, types) for types in (("Identity",), _NAMES))
            view, found = (None if key is None else graph.graph.producer(key) for key in (named, source))
            if source in written and view is not None and view.type in VIEWS:
                return True
            is_computed = found is not None and (found.type not in LEAVES or source in held)
            if is_computed and source != state:
                written.add(state)
    return False


def _overwrites_outer(graph: PatternGraph, node: Node) -> bool:
    """Return True if the first operand is a view, read once, of what each iteration receives, and the other is no number."""
    view = producer_before_removed(graph, node)
    number = graph.const(node, 1)
    if view is None or view.type not in VIEWS or not graph.only_node(view):
        return False
    if number is not None and graph.graph.shape_of(number).sizes in ((), (1,)):
        return False
    source = producer_before_removed(graph, node, 0, *VIEWS)
    outer = None if source is None else graph.unchanged.get(source.outputs[0])
    return outer is not None and not graph.graph.is_constant(outer)


def _joins_nothing(graph: PatternGraph, node: Node) -> bool:
    """Return True if slices are joined along an axis after one that may be empty."""
    for edge in (edge for body in node.bodies for edge in body.exits if edge.outer is not None):
        dims = graph.graph.shape_of(edge.outer).dims
        if dims and edge.axis is not None and any(0 in dim and not dim.is_static for dim in dims[: max(edge.axis, 0)]):
            return True
    return False


def _is_never(graph: PatternGraph, node: Node) -> bool:
    """Return True if the condition is false."""
    condition = graph.constant(node, 1)
    return condition is not None and condition.size == 1 and not condition.any()


def _of_zero_trips(graph: PatternGraph, node: Node) -> bool:
    """Return True for a trip count of 0, if slices are joined, or a state is a constant."""
    trips = graph.constant(node, 0)
    if trips is None or trips.size != 1 or trips.any() or _is_never(graph, node):
        return False
    states = [edge.outer for body in node.bodies for edge in body.entries if edge.next is not None]
    return _joins(node) or any(key is not None and graph.graph.is_constant(key) for key in states)


def _may_not_begin(graph: PatternGraph, node: Node) -> bool:
    """Return True if slices are joined, and only a condition that is computed keeps constant trips from being made."""
    trips, condition = graph.constant(node, 0), graph.constant(node, 1)
    if trips is None or trips.size != 1 or trips.ravel()[0] < 1 or condition is not None or not _joins(node):
        return False
    goes_on = [graph.before(body.goes_on, _NAMES) for body in node.bodies]
    return any(key is not None and graph.graph.is_constant(key) for key in goes_on)


def _keeps_slices(graph: PatternGraph, node: Node) -> bool:
    """Return True if slices are joined, inputs decide whether there is an iteration, and what reads them may see them then."""
    numbers = [graph.constant(node, position) for position in (0, 1)]  # trips, and the condition at first
    is_never = any(number is not None and not number.all() for number in numbers)
    if is_never or all(number is not None or graph.known.bounds(node, i)[0] >= 1 for i, number in enumerate(numbers)):
        return False
    joined = [edge.outer for body in node.bodies for edge in body.exits if edge.passing is Passing.SLICED]
    return any(not _cuts(graph, reader) for key in joined if key is not None for reader in graph.readers(key))


def _cuts(graph: PatternGraph, reader: Node) -> bool:
    """Return True for a Slice whose end is chosen, as `convert` makes them."""
    return reader.type == "Slice" and graph.producer(reader, 2, "Select") is not None


def _joins(node: Node) -> bool:
    return any(edge.passing is Passing.SLICED for body in node.bodies for edge in body.exits)


LOOPS = (
    KnownFault(
        report="loop_condition_is_false",
        types=("Loop",),
        occurs=_is_never,
        operands=2,
        instead="a Loop whose condition is the constant false is refused, or loses a dimension of its states",
        remedy="replace the Loop by its initial states",
        taints=True,
    ),
    KnownFault(
        report="loop_of_zero_trips",
        types=("Loop",),
        occurs=_of_zero_trips,
        operands=2,
        instead="a Loop whose trip count is the constant 0 ends the process if it joins slices, or is refused",
        remedy="replace the Loop by its initial states",
        effect=Effect.FATAL,
        converter="avoids",
    ),
    KnownFault(
        report="loop_condition_of_run_time",
        types=("Loop",),
        occurs=_may_not_begin,
        operands=2,
        instead="if the condition is false at first, joined slices are uninitialized memory instead of none",
        remedy="select the trip count by the condition",
        effect=Effect.DEPENDS,
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="iterator_over_no_elements",
        types=("Loop", "TensorIterator"),
        occurs=_joins_nothing,
        operands=0,
        instead="the process ends if slices without elements are joined along another axis than the first",
        remedy="join along the first axis and transpose, or declare that there is at least one element",
        effect=Effect.DEPENDS,
    ),
    KnownFault(
        report="scan_with_delayed_state",
        types=("TensorIterator",),
        occurs=_delayed,
        instead="the element of an iteration overwrites the state before the body reads it",
        remedy="hand on a copy of the element: element 0 of a Tile by 2 along a new axis",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="scan_state_of_its_element",
        types=("TensorIterator",),
        occurs=_accumulates,
        instead="the next element is written over the state, which is wrong from the second iteration on",
        remedy="hand on a copy of what is computed: element 0 of a Tile by 2 along a new axis",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="scan_without_element",
        types=("TensorIterator",),
        occurs=_no_element,
        instead="a body that does not read its element makes one iteration",
        remedy="let an output of the body depend on the element, or use Loop with a trip count",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="iterator_starts_within_the_axis",
        types=("TensorIterator",),
        occurs=_begins_within,
        instead="slices are taken from the end of the axis on, one after the other, whatever start and part_size say",
        remedy="cut the input by Slice before, and begin at 0 or, backwards, at -1, with a part_size as long as the stride",
        taints=True,
    ),
    KnownFault(
        report="loop_state_is_a_view_of_another",
        types=("Loop",),
        occurs=_view_of_another,
        instead="both states share memory: the first one's next value overwrites the second",
        remedy="hand on a copy: element 0 of a Tile by 2 along a new axis",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="loop_overwrites_outer_value",
        types=("Add", "Multiply", "Power", "SquaredDifference"),
        beside=("Loop", "TensorIterator"),
        occurs=_overwrites_outer,
        operands=2,
        instead="arithmetic of a view of a value from outside overwrites it: the next iteration reads the result",
        remedy="exchange the operands, or compute with a copy: element 0 of a Tile by 2 along a new axis",
        taints=True,
        converter="avoids",
    ),
    KnownFault(
        report="loop_of_no_iterations",
        types=("Loop",),
        occurs=_no_iteration,
        operands=2,
        instead="without an iteration, a state that the body does not read is not the initial one, but whatever is in memory",
        remedy="let the body read the state, or guarantee an iteration",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
    KnownFault(
        report="loop_of_no_iterations_keeps_slices",
        types=("Loop",),
        occurs=_keeps_slices,
        operands=2,
        instead="without an iteration, the slices that are joined are those of an earlier inference instead of none",
        remedy="cut them to none if the trip count is 0 or the condition is false at first, or guarantee an iteration",
        effect=Effect.DEPENDS,
        converter="avoids",
    ),
)
