"""What the tests of `accelerate` share: models to try it on, and how the outcome compares."""

import numpy as np
import openvino as ov
from openvino import opset1
from openvino import opset13 as ops

import ov_gather
from ov_gather.acceleration.graph import operation, walk

DATA, ROWS = np.random.default_rng(0).random((7, 5, 6), np.float32), np.random.default_rng(0).integers(-7, 7, (9, 1, 1))


def parameter(name, shape, dtype=np.float32):
    node = ops.parameter(ov.PartialShape(shape), dtype, name=name)
    node.output(0).set_names({name})
    return node


def model_of(*outputs):
    """A model of these outputs, with all Parameters that they need in the order of their names."""
    found, left = {}, list(outputs)
    while left:
        node = left.pop()
        if node.get_type_name() == "Parameter":
            found[node.get_friendly_name()] = node
        left += [value.get_node() for value in node.input_values()]
    return ov.Model(list(outputs), [found[name] for name in sorted(found)], "model")


def operations(model):
    return sorted(operation(node) for _, node in walk(model) if node.get_type_name() not in ("Parameter", "Constant", "Result"))


def outputs_of(model, arrays, hint="f32"):
    request = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": hint}).create_infer_request()
    tensors = [array if isinstance(array, ov.Tensor) else ov.Tensor(array) for array in arrays]
    for i, tensor in enumerate(tensors):
        request.set_input_tensor(i, tensor)
    request.start_async()
    request.wait()
    return [np.array(tensor.data) for tensor in request.output_tensors]


def check_same(model, accelerated, arrays):
    for one, other in zip(outputs_of(model, arrays), outputs_of(accelerated, arrays), strict=True):
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


def arrays_for(model, seed=0, size=7):
    """Arrays for the inputs of a model: indices `i` from the start and from the end, many twice, and numbers of many sizes."""
    random, arrays = np.random.default_rng(seed), []
    for node in model.get_parameters():
        shape, dtype = node.get_output_shape(0), node.get_element_type().to_dtype()
        is_index = node.get_friendly_name() == "i"
        arrays.append((random.integers(-size, size, shape) if is_index else 100 * random.standard_normal(shape)).astype(dtype))
    return arrays


def accelerated(model, *passes, **options):
    other = model.clone()
    return other, ov_gather.accelerate(other, passes=passes or None, **options)


def transpose(node, order=None):
    """Transpose the last two dimensions, or by `order`."""
    rank = len(node.get_output_partial_shape(0))
    return ops.transpose(node, ops.constant(np.array(order or [*range(rank - 2), rank - 1, rank - 2])))


def expanded(kind):
    """An index [9,5,6] from `i`, in each way of writing it."""
    shape = ops.constant(np.array([9, 5, 6]))
    column, line = parameter("i", [9, 1, 1], np.int64), parameter("i", [9], np.int64)
    if kind == "bidirectional":
        return ops.broadcast(column, ops.constant(np.array([1, 5, 6])), broadcast_spec="BIDIRECTIONAL")
    if kind == "numpy":
        return ops.broadcast(column, shape)
    if kind == "explicit":
        return ops.broadcast(line, shape, ops.constant(np.array([0])), broadcast_spec="EXPLICIT")
    if kind == "opset1":
        return opset1.broadcast(column, shape)
    if kind == "tile":
        return ops.tile(column, ops.constant(np.array([1, 5, 6])))
    if kind == "tile of broadcast":
        return ops.tile(ops.broadcast(column, ops.constant(np.array([9, 5, 1]))), ops.constant(np.array([1, 1, 6])))
    if kind == "convert":
        return ops.convert(ops.broadcast(ops.convert(column, "i32"), shape), "i64")
    if kind == "concat":
        return ops.tile(ops.concat([column] * 5, 1), ops.constant(np.array([1, 1, 6])))
    columns = [
        ops.unsqueeze(line, ops.constant(np.array([1, 2]))) for _ in range(5)
    ]  # "stack": the parts are equal, but not the same node
    return ops.broadcast(ops.concat(columns, 1), shape)
