"""If, Loop, TensorIterator and states in random models, with a gather in the body whose index comes out, too."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import opset16 as ops
from openvino.op.util import Variable, VariableInfo

from helpers.random_indices import INTEGERS, Builder, Inner, Operation, Value, constant


def _inner(value: Value) -> ov.Node:
    """The Parameter of a body for a value of the same type and shape."""
    return ops.parameter(value.output.get_partial_shape(), value.output.get_element_type())


def _changed(b: Builder, node: ov.Node, kind: str) -> ov.Node:
    """A step of a computation on integers, in a body."""
    other = constant(b.pick(1, -1, 2, 3), kind)
    work = b.pick(ops.add, ops.subtract, ops.multiply, ops.minimum, ops.maximum, lambda x, _: ops.clamp(x, 0.0, 4.0))
    return work(node, other)


def branches(b: Builder) -> object:
    """If with another computation in each branch; one of them gathers."""
    value, data = b.integers(), b.value("f32", *INTEGERS, least_rank=1)
    condition = b.value("boolean", most_rank=0)
    if condition.rank:
        condition = b.parameter("boolean", [])
    node, models, given = ops.if_op(condition.output), [], []
    for branch in range(2):
        index, table = _inner(value), _inner(data)
        changed = _changed(b, index, value.kind)
        gathered = ops.gather(table, changed, constant(0, "i64"))
        gathered.set_friendly_name(f"in_branch_{b.sites}_{branch}")
        models.append(ov.Model([ops.result(changed), ops.result(gathered)], [index, table], f"branch{branch}"))
        given.append((index, table))
    node.set_then_body(models[0])
    node.set_else_body(models[1])
    for position, outer in enumerate((value, data)):
        node.set_input(outer.output, given[0][position], given[1][position])
    index = node.set_output(models[0].results[0], models[1].results[0])
    gathered = node.set_output(models[0].results[1], models[1].results[1])
    opposite = ops.logical_not(condition.output).output(0)
    for branch, when in enumerate((condition.output, opposite)):
        b.inner.append(Inner(f"in_branch_{b.sites}_{branch}", index, data.output, when))
    b.sites += 1
    b.add(index, value.dims)
    return b.add(gathered)


def repeated(b: Builder) -> object:
    """Loop with a state that changes, the number of the iteration, and a gather at what they make."""
    value, data = b.integers(most_rank=2), b.value("f32", *INTEGERS, least_rank=1)
    kind = value.kind
    state, table, number = _inner(value), _inner(data), ops.parameter([], getattr(ov.Type, kind))
    changed = _changed(b, state, kind)
    index = ops.add(changed, number) if b.chance(0.4) else b.pick(changed, state, number)
    site = ops.gather(table, index, constant(0, "i64"))
    site.set_friendly_name(f"in_loop_{b.sites}")
    seen = ops.reshape(index, constant([1, -1], "i64"), False)
    going_on = (
        ops.constant(True)
        if b.chance(0.7)
        else ops.less(ops.reduce_max(_flat(changed), constant([0], "i64"), True), constant(5, kind))
    )
    going_on = going_on if going_on.get_type_name() == "Constant" else ops.squeeze(going_on, constant([0], "i64"))
    trips = constant(b.pick(0, 1, 2, 5), "i64") if b.chance(0.6) else b.as_kind(b.count(), "i64").output
    node = ops.loop(trips, ops.constant(True).output(0))
    results = [ops.result(x) for x in (going_on, changed, seen, site)]
    node.set_function(ov.Model(results, [state, table, number], "loop"))
    node.set_special_body_ports([2, 0])
    node.set_merged_input(state, value.output, results[1].output(0))
    node.set_invariant_input(table, data.output)
    last = node.get_iter_value(results[1].output(0), -1)
    every = node.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)
    is_run = b.add(ops.greater(trips, constant(0, "i64"))).output  # else the plugin gives out what an earlier run has listed
    b.inner.append(Inner(f"in_loop_{b.sites}", every, data.output, is_run))
    b.sites += 1
    b.add(every)
    return b.add(last, value.dims)


def _flat(node: ov.Node) -> ov.Node:
    return ops.reshape(node, constant([-1], "i64"), False)


def iterated(b: Builder) -> object:
    """TensorIterator over the rows of an index, each of which gathers, with a running state."""
    value, data = b.integers(least_rank=1, most_rank=3), b.value("f32", *INTEGERS, least_rank=1)
    axis = b.axis(value)
    part_shape = [dim if i != axis else 1 for i, dim in enumerate(value.output.get_partial_shape())]
    part, table = ops.parameter(ov.PartialShape(part_shape), value.output.get_element_type()), _inner(data)
    state = ops.parameter(ov.PartialShape([1]), value.output.get_element_type())
    changed = _changed(b, part, value.kind)
    total = ops.add(state, ops.reduce_max(_flat(changed), constant([0], "i64"), True))
    gathered = ops.gather(table, changed, constant(0, "i64"))
    gathered.set_friendly_name(f"in_iterator_{b.sites}")
    results = [ops.result(x) for x in (changed, total, gathered)]
    node = ops.tensor_iterator()
    node.set_body(ov.Model(results, [part, table, state], "iterator"))
    first, last, step = (0, -1, 1) if b.chance(0.7) else (-1, 0, -1)
    node.set_sliced_input(part, value.output, first, step, 1, last, axis)
    node.set_invariant_input(table, data.output)
    node.set_merged_input(state, constant([b.pick(0, 1)], value.kind), results[1].output(0))
    every = node.get_concatenated_slices(results[0].output(0), first, step, 1, last, axis)
    b.inner.append(Inner(f"in_iterator_{b.sites}", every, data.output))
    b.sites += 1
    b.add(node.get_iter_value(results[1].output(0), -1))
    return b.add(every, value.dims)


def state(b: Builder) -> object:
    """A state that each inference reads, changes and keeps."""
    value = b.integers(least_rank=1)
    if not value.output.get_partial_shape().is_static:
        return None
    info = VariableInfo()
    info.data_shape, info.data_type = value.output.get_partial_shape(), value.output.get_element_type()
    info.variable_id = f"state{len(b.sinks)}"
    variable = Variable(info)
    first = constant(np.zeros([int(dim) for dim in value.dims], np.int64), value.kind)
    before = ops.read_value(first, variable)
    after = b.pick(ops.add, ops.maximum)(before, value.output)
    b.sinks.append(ops.assign(after, variable))
    b.variables.append(variable)
    b.add(before, value.dims)
    return b.add(after, value.dims)


BODIES: list[tuple[int, Operation]] = [(3, branches), (3, repeated), (3, iterated), (2, state)]
