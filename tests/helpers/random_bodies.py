"""If, Loop, TensorIterator and states in random graphs, with a gather in the body whose index comes out, too."""

from __future__ import annotations

import numpy as np
import openvino as ov
from onnx import parser
from openvino import opset16 as ops
from openvino.op.util import Variable, VariableInfo

from helpers.random_graphs import INTEGERS, Builder, Operation, Value
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import Inner, OpenvinoBuilder


def _inner(value: Value) -> ov.Node:
    """Return the Parameter of a body for a value of the same type and shape."""
    return ops.parameter(value.handle.get_partial_shape(), value.handle.get_element_type())


def _line(*numbers: int) -> ov.Node:
    return ops.constant(np.array(numbers, np.int64))


def _changed(b: OpenvinoBuilder, node: ov.Node, kind: str) -> ov.Node:
    """Add a step of a computation on integers, in a body."""
    other = b.constant(b.pick(1, -1, 2, 3), kind).handle
    work = b.pick(ops.add, ops.subtract, ops.multiply, ops.minimum, ops.maximum, lambda x, _: ops.clamp(x, 0.0, 4.0))
    return work(node, other)


def _gathered(table: ov.Node, index: ov.Node, name: str) -> ov.Node:
    site = ops.gather(table, index, ops.constant(0))
    site.set_friendly_name(name)
    return site


def _highest(node: ov.Node) -> ov.Node:
    return ops.reduce_max(ops.reshape(node, _line(-1), False), _line(0), True)


def branches(b: OpenvinoBuilder) -> object:
    """If with another computation in each branch; one of them gathers."""
    value, data = b.integer(), b.value("f32", *INTEGERS, least_rank=1)
    condition = b.value("boolean", most_rank=0)
    condition = b.parameter("boolean", []) if condition.rank else condition
    names = [f"in_branch_{b.sites}_{branch}" for branch in range(2)]
    node, models, given = ops.if_op(condition.handle), [], []
    for name in names:
        index, table = _inner(value), _inner(data)
        changed = _changed(b, index, value.kind)
        results = [ops.result(changed), ops.result(_gathered(table, changed, name))]
        models.append(ov.Model(results, [index, table], name))
        given.append((index, table))
    node.set_then_body(models[0])
    node.set_else_body(models[1])
    for position, outer in enumerate((value, data)):
        node.set_input(outer.handle, given[0][position], given[1][position])
    index, gathered = (node.set_output(*pair) for pair in zip(models[0].results, models[1].results, strict=True))
    for name, when in zip(names, (condition.handle, ops.logical_not(condition.handle).output(0)), strict=True):
        b.inner.append(Inner(name, index, data.handle, when))
    b.sites += 1
    b.offer(b.known(index, value.dims))
    return b.offer(b.known(gathered))


def repeated(b: OpenvinoBuilder) -> object:
    """Loop with a state that changes, the number of the iteration, and a gather at what they make."""
    value, data = b.integer(most_rank=2), b.value("f32", *INTEGERS, least_rank=1)
    kind, name = value.kind, f"in_loop_{b.sites}"
    state, table, number = _inner(value), _inner(data), ops.parameter([], getattr(ov.Type, kind))
    changed = _changed(b, state, kind)
    index = ops.add(changed, number) if b.chance(0.4) else b.pick(changed, state, number)
    seen = ops.reshape(index, _line(1, -1), False)
    going_on = ops.constant(True)
    if b.chance(0.3):
        going_on = ops.squeeze(ops.less(_highest(changed), b.constant(5, kind).handle), _line(0))
    trips = b.constant(b.pick(0, 1, 2, 5), "i64") if b.chance(0.6) else b.as_kind(b.count(), "i64")
    node = ops.loop(trips.handle, ops.constant(True).output(0))
    results = [ops.result(x) for x in (going_on, changed, seen, _gathered(table, index, name))]
    node.set_function(ov.Model(results, [state, table, number], "loop"))
    node.set_special_body_ports([2, 0])
    node.set_merged_input(state, value.handle, results[1].output(0))
    node.set_invariant_input(table, data.handle)
    last = node.get_iter_value(results[1].output(0), -1)
    every = node.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)
    is_run = b.add("greater", trips, b.constant(0, "i64"))  # else the plugin gives out what an earlier run has listed
    b.inner.append(Inner(name, every, data.handle, is_run.handle))
    b.sites += 1
    b.offer(b.known(every))
    return b.offer(b.known(last, value.dims))


def iterated(b: OpenvinoBuilder) -> object:
    """TensorIterator over the rows of an index, each of which gathers, with a running state."""
    value, data = b.integer(least_rank=1, most_rank=3), b.value("f32", *INTEGERS, least_rank=1)
    axis, name = b.axis(value), f"in_iterator_{b.sites}"
    part_shape = [dim if i != axis else 1 for i, dim in enumerate(value.handle.get_partial_shape())]
    part, table = ops.parameter(ov.PartialShape(part_shape), value.handle.get_element_type()), _inner(data)
    state = ops.parameter(ov.PartialShape([1]), value.handle.get_element_type())
    changed = _changed(b, part, value.kind)
    results = [ops.result(x) for x in (changed, ops.add(state, _highest(changed)), _gathered(table, changed, name))]
    node = ops.tensor_iterator()
    node.set_body(ov.Model(results, [part, table, state], "iterator"))
    first, last, step = (0, -1, 1) if b.chance(0.7) else (-1, 0, -1)
    node.set_sliced_input(part, value.handle, first, step, 1, last, axis)
    node.set_invariant_input(table, data.handle)
    node.set_merged_input(state, b.constant([b.pick(0, 1)], value.kind).handle, results[1].output(0))
    every = node.get_concatenated_slices(results[0].output(0), first, step, 1, last, axis)
    b.inner.append(Inner(name, every, data.handle))
    b.sites += 1
    b.offer(b.known(node.get_iter_value(results[1].output(0), -1)))
    return b.offer(b.known(every, value.dims))


def state(b: OpenvinoBuilder) -> object:
    """A state that each inference reads, changes and keeps."""
    value = b.integer(least_rank=1)
    if not value.handle.get_partial_shape().is_static:
        return None
    info = VariableInfo()
    info.data_shape, info.data_type = value.handle.get_partial_shape(), value.handle.get_element_type()
    info.variable_id = f"state{len(b.sinks)}"
    variable = Variable(info)
    before = ops.read_value(b.constant(np.zeros(value.dims, np.int64), value.kind).handle, variable)
    after = b.pick(ops.add, ops.maximum)(before, value.handle)
    b.sinks.append(ops.assign(after, variable))
    b.variables.append(variable)
    b.offer(b.known(before.output(0)))
    return b.offer(b.known(after.output(0)))


def onnx_branches(b: OnnxBuilder) -> object:
    """If whose branches hold arithmetic on constants and on a value around; its result is an index."""
    value, condition = b.value("i64", "i32"), b.value("boolean", most_rank=0)
    if condition.rank:
        largest = b.one("ReduceMax", value, keepdims=0)
        condition = b.one("Greater", largest, b.constant(b.pick(0, 3), value.kind))
    bodies, kind = [], {"i64": "int64", "i32": "int32"}[value.kind]
    declared = f"{kind}[{', '.join('?' * value.rank)}]" if value.rank else kind
    for mark in "te":
        first, second = b.rng.integers(-7, 8, 2) | [0, 1]  # the divisor is not 0
        p, q, r, s, t = (f"{value.handle}_{len(b.nodes)}{mark}{i}" for i in range(5))
        body = parser.parse_graph(
            f"""{mark} () => ({declared} {t}) <{kind} {p} = {{{first}}}, {kind} {q} = {{{second}}}> {{
                {r} = {b.pick("Div", "Sub", "Add")}({p}, {q}) {s} = {b.pick("Neg", "Sign", "Identity", "Abs")}({r})
                {t} = {b.pick("Add", "Sub", "Max", "Min")}({value.handle}, {b.pick(r, s)})
            }}"""
        )
        for node in body.node:
            node.name = node.output[0]
        bodies.append(body)
    index = b.offer(b.one("If", condition, then_branch=bodies[0], else_branch=bodies[1]))
    return _gather_by(b, index)


def _gather_by(b: OnnxBuilder, index: Value) -> object:
    data = b.value("f32", least_rank=1)
    return b.add("gather", data, index, b.constant(b.axis(data), "i64"))


def onnx_repeated(b: OnnxBuilder) -> object:
    """Loop with a state and the number of the iteration, which come out as indices."""
    trips = b.as_kind(b.count(), "i64") if b.chance(0.6) else b.constant(b.pick(0, 1, 3), "i64")
    step = b.pick("Add(s, one)", "Sub(s, one)", "Mul(s, two)", "Min(s, i)", "Max(s, i)", "Add(s, i)")
    body = parser.parse_graph(
        f"""body (int64 i, bool c, int64 s) => (bool going, int64 t, int64 at, int64 number) {{
            one = Constant <value_int = 1> () two = Constant <value_int = 2> ()
            t = {step} going = Identity (c) at = Identity (s) number = Identity (i)
        }}"""
    )
    for position, node in enumerate(body.node):
        node.name = f"body_{position}"
    operands = [trips, b.constant(True, "boolean"), b.constant(b.pick(0, 1, -1), "i64")]
    return _gather_by(b, b.pick(*[b.offer(one) for one in b.node("Loop", operands, 3, body=body)]))


BODIES: dict[type[Builder], list[tuple[int, Operation]]] = {
    OpenvinoBuilder: [(3, branches), (3, repeated), (3, iterated), (2, state)],
    OnnxBuilder: [(1, onnx_branches), (1, onnx_repeated)],
}
