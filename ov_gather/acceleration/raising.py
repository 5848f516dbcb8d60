"""Stock operations that raise.

They rely on guarantees of OpenVINO's CPU plugin (2026.4.1): in asynchronous inference, with one thread or many, GatherElements
raises for an index out of bounds of a non-empty axis, and Broadcast for a shape that does not fit.

Between two operations whose output shapes depend on values, the plugin first infers all open shapes and then executes. If an
execution raises there, the other operations keep the sizes of this inference, and the next one takes them for its own.
"""

from __future__ import annotations

from ov_gather.acceleration.graph import walk
from ov_gather.extension.python_api import Model, Output, Type
from ov_gather.extension.python_api import opset13 as ops


def has_open_shapes(model: Model) -> bool:
    """Return True if a tensor of a model, bodies included, has an open shape."""
    return any(output.get_partial_shape().is_dynamic for _, node in walk(model) for output in node.outputs())


def raising_zero(is_wrong: Output, kind: Type, *, is_open: bool, name: str = "") -> Output:
    """Return a scalar 0; computing it raises if `is_wrong`, a tensor with one element, is true.

    1. GatherElements([0], is_wrong): the only position in bounds is 0. OpenVINO does not fold it if it raises.
    2. Slice(Broadcast([0, 0], Select(is_wrong, 3, 2)), 0, 1) if shapes of the model are open: the Broadcast has a shape that
       depends on a value, so everything before it has been executed, and no shape behind it has been inferred, when it raises.
    """
    is_wrong, first = ops.reshape(is_wrong, ops.constant([1]), False).output(0), ops.constant([0])
    if is_open:
        raising = ops.broadcast(ops.constant([0, 0], kind), ops.select(is_wrong, ops.constant([3]), ops.constant([2])))
        found = ops.slice(raising, first, ops.constant([1]), ops.constant([1]))
    else:
        raising = found = ops.gather_elements(ops.constant([0], kind), ops.convert(is_wrong, "i64"), 0)
    if name:
        raising.set_friendly_name(name)
    return ops.squeeze(found, first).output(0)
