"""Faults in Loop and TensorIterator: states that share memory, and parts of bodies that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ov_gather.ir.bodies import back_edges, entries
from ov_gather.ir.model import Layer
from ov_gather.rules.known.base import Effect, KnownFault
from ov_gather.rules.known.pattern_graph import VIEWS, PatternGraph

_IN_PLACE = ("Add", "Multiply", "Subtract")
_UNARY = (
    *("Abs", "Ceiling", "Clamp", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HSwish", "Log", "Mish", "Negative", "ReLU"),
    *("Round", "Sigmoid", "Sign", "Sin", "SoftPlus", "Sqrt", "Swish", "Tanh"),
)
_COMMUTATIVE = ("Add", "Multiply", "Maximum", "Minimum")
_BINARY = (*_COMMUTATIVE, "Subtract")


@dataclass(frozen=True, eq=False)
class _Body:
    """The body of a loop, with its states: pairs of the Parameter that holds one and the Result that returns the next."""

    layer: Layer

    @cached_property
    def graph(self) -> PatternGraph:
        return PatternGraph(self.layer.bodies[0])

    @cached_property
    def states(self) -> list[tuple[Layer, Layer]]:
        edges = back_edges(self.layer, self.graph.model)
        return [(parameter, result) for _, result, parameter in edges if parameter and result and result.inputs]

    @cached_property
    def elements(self) -> list[Layer]:
        """The Parameters that get a slice of an input in each iteration."""
        found = entries(self.layer, self.graph.model)
        return [entry.inner for entry in found if entry.is_input and entry.is_sliced and entry.inner]

    def reads(self, parameter: Layer) -> int:
        return sum(len(self.graph.readers((parameter.id, port.id))) for port in parameter.outputs)

    def is_element(self, layer: Layer, position: int) -> bool:
        """Return True if an input is an element, or a view of one, that nothing else reads."""
        source = self.graph.source(layer, position)
        while source and source[0].type in (*VIEWS, "Identity") and self.graph.only_reader(source[0]):
            source = self.graph.source(source[0])
        return source is not None and source[0] in self.elements and self.graph.only_reader(source[0])

    def is_written_over_element(self, layer: Layer, position: int) -> bool:
        """Return True for an element, or for arithmetic of one with a constant vector, which is computed in its memory."""
        one = self.graph.producer(layer, position, *_IN_PLACE)
        if one is None:
            return self.is_element(layer, position)
        vector = self.graph.producer(one, 1, "Const")
        return vector is not None and bool(self.graph.shape(one, 1).sizes) and self.is_element(one, 0)


def _bodies(layer: Layer) -> Iterator[_Body]:
    if len(layer.bodies) == 1:
        yield _Body(layer)


def _delayed(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if the next state is an element, possibly changed in its place, and the body reads the state."""
    for body in _bodies(layer):
        for parameter, result in body.states:
            source = body.graph.viewed(result, 0, (*VIEWS, "Identity"))
            is_element = source is not None and source[0] in body.elements
            if body.reads(parameter) and (is_element or body.is_written_over_element(result, 0)):
                return True
    return False


def _accumulates(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if the next state is computed in the memory of an element."""
    for body in _bodies(layer):
        for parameter, result in body.states:
            last = body.graph.producer(result, 0)
            if last and (last.type in _UNARY or (last.type in _BINARY and body.graph.producer(last, 1, "Const"))):
                last = body.graph.producer(last, 0)  # the plugin fuses it
            if last is None or last.type not in _BINARY:
                continue
            first, second = (body.graph.producer(last, position) for position in (0, 1))
            is_changed = second is not None and second.type in _IN_PLACE and last.type in ("Add", "Subtract")
            if last.type in _COMMUTATIVE and body.is_written_over_element(last, 0):
                is_met = second is parameter or body.graph.only_reader(last)
            else:
                is_met = first is parameter and is_changed and body.is_written_over_element(last, 1)
            if is_met and parameter in body.graph.depends_on(last):
                return True
    return False


def _no_element(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if no result of the body depends on an element, but some state changes from iteration to iteration."""
    for body in _bodies(layer):
        read = {one.id for one in body.graph.depends_on(*body.graph.model.of_type("Result"))}
        changes = any(body.graph.producer(result, 0) not in (parameter, None) for parameter, result in body.states)
        if body.elements and changes and not any(element.id in read for element in body.elements):
            return True
    return False


def _no_iteration(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if there may be no iteration, and the body does not read a state."""
    trips, condition = graph.constant(layer, 0), graph.constant(layer, 1)
    if trips is not None and trips.size == 1 and trips.ravel()[0] != 0 and condition is not None and condition.all():
        return False
    return any(
        not body.reads(parameter) and body.graph.type(result) != "boolean"
        for body in _bodies(layer)
        for parameter, result in body.states
    )


def _view_of_another(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if the next state is a view of an earlier state, which is computed anew before."""
    for body in _bodies(layer):
        held, written = [parameter for parameter, _ in body.states], set[int]()
        for parameter, result in body.states:
            named = body.graph.viewed(result, 0, ("Identity",))
            source = body.graph.viewed(result, 0, (*VIEWS, "Identity"))
            if source and named and source[0].id in written and named[0].type in VIEWS:
                return True
            is_computed = source and (source[0].type not in ("Const", "Parameter") or source[0] in held)
            if is_computed and source and source[0] is not parameter:
                written.add(parameter.id)
    return False


def _joins_nothing(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if slices are joined along an axis after one that may be empty."""
    for body in layer.bodies:
        for entry in entries(layer, body):
            dims = entry.port.shape.dims if entry.port and not entry.is_input else None
            if dims and entry.slicing and any(0 in dim and not dim.is_static for dim in dims[: max(entry.slicing.axis, 0)]):
                return True
    return False


LOOPS = (
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
        converter="avoids",
    ),
    KnownFault(
        report="scan_state_of_its_element",
        types=("TensorIterator",),
        occurs=_accumulates,
        instead="the next element is written over the state, which is wrong from the second iteration on",
        remedy="hand on a copy of what is computed: element 0 of a Tile by 2 along a new axis",
        converter="avoids",
    ),
    KnownFault(
        report="scan_without_element",
        types=("TensorIterator",),
        occurs=_no_element,
        instead="a body that does not read its element makes one iteration",
        remedy="let an output of the body depend on the element, or use Loop with a trip count",
        converter="avoids",
    ),
    KnownFault(
        report="loop_state_is_a_view_of_another",
        types=("Loop",),
        occurs=_view_of_another,
        instead="both states share memory: the first one's next value overwrites the second",
        remedy="hand on a copy: element 0 of a Tile by 2 along a new axis",
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
)
