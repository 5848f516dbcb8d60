"""OpenVINO models that are functions of named inputs."""

import numpy as np
import openvino as ov
from openvino import opset13 as ops


def named(name, text):
    """A Parameter, such as `named("x", "f32[?,4]")`."""
    kind, _, shape = text.partition("[")
    node = ops.parameter(ov.PartialShape(f"[{shape}"), getattr(ov.Type, kind), name=name)
    node.output(0).set_names({name})
    return node


def made_of(make, **inputs):
    """A model of the results of a function, such as `made_of(lambda x: ops.relu(x), x="f32[?,4]")`."""
    given = [named(name, text) for name, text in inputs.items()]
    made = make(*given)
    return ov.Model(list(made) if isinstance(made, list | tuple) else [made], given, "model")


def number(value, dtype=np.int64):
    return ops.constant(np.array(value, dtype))


def size_of(x, axis=0, kind="i64"):
    return ops.gather(ops.shape_of(x, kind), number(axis), number(0))


def counted(stop, dtype=np.int64):
    """The numbers from 0 to below `stop`."""
    return ops.range(number(0, dtype), stop, number(1, dtype), stop.get_element_type().get_type_name())


def looked_up(size, index):
    """Rows of a table of `size` rows."""
    return ops.gather(number(np.zeros((size, 2)), np.float32), index, number(0))


def loop_of(state, trips, step):
    """The last state of a Loop, in which each iteration makes the next one by `step`."""
    inner = ops.parameter(state.get_output_partial_shape(0), state.get_output_element_type(0))
    after = step(inner)
    node = ops.loop(trips, ops.constant(True))
    node.set_function(ov.Model([ops.result(ops.constant(True)), ops.result(after)], [inner], "body"))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(inner, state.output(0), after.output(0))
    return node.get_iter_value(after.output(0), -1)
