"""What the tests of `accelerate` share: models to try it on, and how the outcome compares."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset1
from openvino import opset13 as ops
from openvino.op.util import Variable, VariableInfo

import ov_gather
from ov_gather.acceleration.graph import operation, walk

DATA, ROWS = np.random.default_rng(0).random((7, 5, 6), np.float32), np.random.default_rng(0).integers(-7, 7, (9, 1, 1))


def parameter(name, shape, dtype=np.float32):
    node = ops.parameter(ov.PartialShape(shape), dtype, name=name)
    node.output(0).set_names({name})
    return node


def variable(name, shape):
    info = VariableInfo()
    info.data_shape, info.data_type, info.variable_id = ov.PartialShape(shape), ov.Type.f32, name
    return Variable(info)


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


def executable(model, hint="f32"):
    """The function of arrays that a model computes, compiled once."""
    request = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": hint}).create_infer_request()

    def execute(arrays):
        tensors = [array if isinstance(array, ov.Tensor) else ov.Tensor(array) for array in arrays]
        for i, tensor in enumerate(tensors):
            request.set_input_tensor(i, tensor)
        request.start_async()
        request.wait()
        return [np.array(tensor.data) for tensor in request.output_tensors]

    return execute


def outputs_of(model, arrays, hint="f32"):
    return executable(model, hint)(arrays)


def check_same(model, accelerated, *cases):
    """Assert that both models compute the same bits of each list of arrays."""
    before, after = executable(model), executable(accelerated)
    for arrays in cases:
        for one, other in zip(before(arrays), after(arrays), strict=True):
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


def check_accelerated(model, *cases, passes=(), done=None, operators=None, **options):
    """Assert that accelerating keeps all bits, and what is done to the first gather; return the new model and the summary."""
    other, summary = accelerated(model, *passes, **options)
    assert done is None or summary.changes[0].done == done
    assert operators is None or operations(other) == operators
    check_same(model, other, *cases)
    return other, summary


def check_raises(arrays, *models, match=""):
    for model in models:
        with pytest.raises(RuntimeError, match=match):
            outputs_of(model, arrays)


def check_stays(model, *passes, reason="", **options):
    """Assert that the passes change no operation, and what is said of the first gather; returns the summary."""
    other, summary = accelerated(model, *passes, **options)
    assert operations(other) == operations(model)
    assert not reason or reason in summary.changes[0].reason
    return summary


def transpose(node, order=None):
    """Transpose the last two dimensions, or by `order`."""
    rank = len(node.get_output_partial_shape(0))
    return ops.transpose(node, ops.constant(np.array(order or [*range(rank - 2), rank - 1, rank - 2])))


def expanded(kind):
    """An index [9,5,6] from `i`, in each way of writing it."""
    column, line, shape = parameter("i", [9, 1, 1], np.int64), parameter("i", [9], np.int64), [9, 5, 6]
    ways = {
        "bidirectional": lambda: ops.broadcast(column, [1, 5, 6], broadcast_spec="BIDIRECTIONAL"),
        "numpy": lambda: ops.broadcast(column, shape),
        "explicit": lambda: ops.broadcast(line, shape, [0], broadcast_spec="EXPLICIT"),
        "opset1": lambda: opset1.broadcast(column, shape),
        "tile": lambda: ops.tile(column, [1, 5, 6]),
        "tile of broadcast": lambda: ops.tile(ops.broadcast(column, [9, 5, 1]), [1, 1, 6]),
        "convert": lambda: ops.convert(ops.broadcast(ops.convert(column, "i32"), shape), "i64"),
        "concat": lambda: ops.tile(ops.concat([column] * 5, 1), [1, 1, 6]),
        # the parts are equal, but not the same node
        "stack": lambda: ops.broadcast(ops.concat([ops.unsqueeze(line, [1, 2]) for _ in range(5)], 1), shape),
    }
    return ways[kind]()
