"""The carried values and slices of a Loop or Scan: lanes are added to them, and unused ones are removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import onnx_ir
from onnx_ir import Value

from ov_gather.graph.protocol import LOOPS
from ov_gather.ops.onnx_nodes import AHEAD, attribute, is_branching
from ov_gather.system.traversal import reachable

from ..graphs import bodies_of, graph_of, is_default, is_used, operands_of, slicings_of
from ..moves import OF_SHAPES
from .rewriter import drop


@dataclass(frozen=True)
class Carried:
    """A carried value: initially `given`, then `inner` in the body, `end` on the back edge, and `out` after the loop."""

    given: Value
    inner: Value
    end: Value
    out: Value


@dataclass(frozen=True)
class ScanValue:
    """A tensor whose slices enter a body one per iteration, or that is stacked from slices of its iterations."""

    outer: Value
    inner: Value
    axis: int = 0
    direction: int = 0


class LoopView:
    """The parts of a Loop or Scan. New parts are appended; `rebuild` restores ONNX's order.

    Attributes:
        counts: whether iterations are counted, as by a Loop; a Scan has one for each slice.
    """

    def __init__(self, node: onnx_ir.Node) -> None:
        ((_, self.body),) = bodies_of(node)
        self.node = node
        inputs, outputs = AHEAD[node.op_type]
        self._ahead, self._condition = list(node.inputs[:inputs]), list(self.body.outputs[:outputs])
        self._counted = list(self.body.inputs[:inputs])
        self.counts = bool(inputs)
        count = len(node.inputs) - inputs - attribute(node, "num_scan_inputs", 0)
        given = [value for value in node.inputs[inputs:] if value is not None]
        inner, ends = list(self.body.inputs[inputs:]), list(self.body.outputs[outputs:])
        self.states = [Carried(*parts) for parts in zip(given[:count], inner[:count], ends[:count], node.outputs, strict=False)]
        self.into = _scan_values(node, "input", given[count:], inner[count:])
        self.out_of = _scan_values(node, "output", node.outputs[count:], ends[count:])

    def body_sources(self) -> dict[Value, list[Value]]:
        """Map each input of the body, except count and condition, to the values it takes in some iteration."""
        states = {state.inner: [state.given, state.end] for state in self.states}
        return states | {part.inner: [part.outer] for part in self.into}

    def source_of(self, output: Value) -> Value:
        """Return the value in the body that an output of the node equals, or is stacked from."""
        found = {state.out: state.inner for state in self.states} | {part.outer: part.inner for part in self.out_of}
        return found[output]

    def control(self) -> list[Value]:
        """Return the values that determine the number of iterations."""
        return [*self._condition, *(value for value in self._ahead if value is not None)]

    def add_state(self, given: Value, inner: Value, end: Value) -> Value:
        """Add a carried value; return the node's output for it."""
        self._add_input(given, inner)
        out = self._add_output(end)
        self.states.append(Carried(given, inner, end, out))
        return out

    def add_into(self, part: ScanValue) -> None:
        """Add an input whose slices enter the body as `part.inner`."""
        self._add_input(part.outer, part.inner)
        self.into.append(part)

    def add_out_of(self, inner: Value, axis: int, direction: int) -> Value:
        """Add an output that is stacked from slices; return it."""
        out = self._add_output(inner)
        self.out_of.append(ScanValue(out, inner, axis, direction))
        return out

    def _add_input(self, given: Value, inner: Value) -> None:
        self.body.inputs.append(inner)
        self.node.resize_inputs(len(self.node.inputs) + 1)
        self.node.replace_input_with(len(self.node.inputs) - 1, given)

    def _add_output(self, inner: Value) -> Value:
        self.body.outputs.append(inner)
        self.node.resize_outputs(len(self.node.outputs) + 1)
        return self.node.outputs[-1]

    def rebuild(self, loops: Mapping[onnx_ir.Node, LoopView]) -> None:
        """Replace the node by one with only the live parts. `loops` are all loops of the model."""
        states, into, out_of = self._live(loops)
        unused = [*self.body.outputs, *(value for value in self.node.inputs if value is not None)]
        node = onnx_ir.Node(
            "",
            self.node.op_type,
            [*self._ahead, *(state.given for state in states), *(part.outer for part in into)],
            [onnx_ir.AttrGraph("body", self.body), *_scan_attributes(self.node, into, out_of)],
            num_outputs=len(states) + len(out_of),
            name=self.node.name,
        )
        self.body.inputs[:] = [*self._counted, *(state.inner for state in states), *(part.inner for part in into)]
        self.body.outputs[:] = [*self._condition, *(state.end for state in states), *(part.inner for part in out_of)]
        outer = graph_of(self.node)
        outer.insert_before(self.node, node)
        old = [*(state.out for state in states), *(part.outer for part in out_of)]
        for value, new in zip(old, node.outputs, strict=True):
            new.name, new.type, new.shape = value.name, value.type, value.shape
            value.replace_all_uses_with(new, replace_graph_outputs=True)
        outer.remove(self.node, safe=True)
        for value in unused:
            drop(value)

    def _live(self, loops: Mapping[onnx_ir.Node, LoopView]) -> tuple[list[Carried], list[ScanValue], list[ScanValue]]:
        """Return the parts that something uses."""
        out_of = [part for part in self.out_of if is_used(part.outer)]
        wanted = [state.inner for state in self.states if is_used(state.out)]
        wanted += [*self._condition, *(part.inner for part in out_of)]
        needed = reached(wanted, loops)
        states = [state for state in self.states if state.inner in needed]
        return states, [part for part in self.into if part.inner in needed], out_of


def has_parts(node: onnx_ir.Node, opset: int) -> bool:
    """Return True for a Loop or Scan without omitted inputs or outputs."""
    if not is_default(node, LOOPS) or (node.op_type == "Scan" and opset < 9):
        return False
    ((_, body),) = bodies_of(node)
    inputs, outputs = AHEAD[node.op_type]
    is_whole = len(node.inputs) == len(body.inputs) and len(node.outputs) == len(body.outputs) - outputs
    return is_whole and None not in node.inputs[inputs:]


def _scan_values(node: onnx_ir.Node, side: str, outer: Sequence[Value], inner: Sequence[Value]) -> list[ScanValue]:
    """Return the sliced inputs or stacked outputs of a node, with the axis and direction of each."""
    parts = zip(outer, inner, slicings_of(node, side, len(outer)), strict=True)
    return [ScanValue(one, other, slicing.axis, int(slicing.stride < 0)) for one, other, slicing in parts]


def _scan_attributes(node: onnx_ir.Node, into: Sequence[ScanValue], out_of: Sequence[ScanValue]) -> list[onnx_ir.Attr]:
    if node.op_type == "Loop":
        return []
    found = [onnx_ir.AttrInt64("num_scan_inputs", len(into))]
    for side, parts in (("input", into), ("output", out_of)):
        if parts:
            found.append(onnx_ir.AttrInt64s(f"scan_{side}_axes", [part.axis for part in parts]))
            found.append(onnx_ir.AttrInt64s(f"scan_{side}_directions", [part.direction for part in parts]))
    return found


def reached(values: Iterable[Value], loops: Mapping[onnx_ir.Node, LoopView], *, by_shape: bool = True) -> set[Value]:
    """Return the values and all values that they depend on, in bodies and around them.

    `by_shape`: whether to include values whose shape alone matters.
    """
    body_sources = {inner: outer for loop in loops.values() for inner, outer in loop.body_sources().items()}

    def sources(value: Value) -> list[Value]:
        node = value.producer()
        if node is None:
            return body_sources.get(value, [])
        if node in loops:
            return [loops[node].source_of(value), *loops[node].control()]
        if not by_shape and node.op_type in OF_SHAPES:
            return []
        ends = [[body.outputs[value.index() or 0]] if is_branching(node) else body.outputs for _, body in bodies_of(node)]
        return [*operands_of(value), *chain.from_iterable(ends)]

    return set(reachable(values, sources))
