"""Models of many operations, as OpenVINO writes them: functions that return outputs and parameters, some with sinks."""

import numpy as np
import openvino as ov
from openvino import opset13 as ops

from helpers.accelerating import parameter, variable
from helpers.openvino_models import number

F32 = np.float32


def weights(*shape, dtype=F32):
    return ops.constant(np.random.default_rng(0).integers(-8, 8, shape).astype(dtype))


def transformer():
    """Embedding, attention with a mask, normalisation, a gather of the best; batch and length are open."""
    tokens = parameter("tokens", [-1, -1], np.int64)
    x = ops.gather(weights(50, 16), tokens, ops.constant(0))
    heads = [ops.matmul(x, weights(16, 16), False, True) for _ in range(3)]
    q, k, v = (ops.transpose(ops.reshape(head, number([0, 0, 2, 8]), True), number([0, 2, 1, 3])) for head in heads)
    shape = ops.shape_of(tokens)
    length = ops.gather(shape, number([1]), ops.constant(0))
    row = ops.range(ops.constant(0), ops.squeeze(length, ops.constant(0)), ops.constant(1), output_type="i64")
    mask = ops.less_equal(ops.unsqueeze(row, ops.constant(0)), ops.unsqueeze(row, ops.constant(1)))
    a = ops.scaled_dot_product_attention(q, k, v, ops.unsqueeze(mask, number([0, 1])))
    y = ops.add(x, ops.reshape(ops.transpose(a, number([0, 2, 1, 3])), number([0, 0, 16]), True))
    y = ops.gelu(ops.mvn(y, number([-1]), True, 1e-5, "inside_sqrt"), "tanh")
    best = ops.topk(y, ops.constant(3), 2, "max", "value")
    return [ops.gather_elements(y, best.output(1), 2), ops.softmax(y, -1)], [tokens]


def detector():
    image = parameter("image", [1, 3, 32, 32])
    x = ops.convolution(image, weights(8, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    x = ops.hswish(ops.group_convolution(x, weights(8, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
    x = ops.fake_quantize(x, *(ops.constant(F32(bound)) for bound in (-1, 1, -1, 1)), levels=256)
    pooled = ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])
    up = ops.interpolate(pooled.output(0), number([16, 16]), "linear_onnx", "sizes", axes=number([2, 3]))
    y = ops.reshape(ops.concat([x, up], 1), number([1, -1, 4]), False)
    boxes = ops.clamp(y, 0.0, 32.0)
    scores = ops.reshape(ops.reduce_max(y, number([2])), number([1, 1, -1]), False)
    nms = ops.non_max_suppression(boxes, scores, ops.constant(5), ops.constant(F32(0.5)), ops.constant(F32(-100)))
    return [nms.output(0), ops.gather(boxes, number([0, 2]), ops.constant(1))], [image]


def recurrent():
    data = parameter("data", [2, 5, 4])
    state, length = ops.constant(np.zeros((2, 1, 8), F32)), ops.constant(np.array([5, 5], np.int32))
    lstm = ops.lstm_sequence(data, state, state, length, weights(1, 32, 4), weights(1, 32, 8), weights(1, 32), 8, "forward")
    gru = ops.gru_sequence(data, state, length, weights(1, 24, 4), weights(1, 24, 8), weights(1, 24), 8, "reverse")
    cell = ops.lstm_cell(
        ops.squeeze(lstm.output(1), ops.constant(1)), *(weights(2, 8),) * 2, weights(32, 8), weights(32, 8), weights(32), 8
    )
    return [lstm.output(0), gru.output(0), cell.output(1)], [data]


def constants():
    """Constants of every type, of a size that does not fill the last byte, without elements, and of strings."""
    names = "boolean bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 f8e4m3 f8e5m2 f4e2m1 f8e8m0"
    tensors = [ov.Tensor(getattr(ov.Type, name), ov.Shape([1, 5])) for name in names.split()]
    for tensor in tensors:  # their memory is not initialised, and u32 from 2^31 on is a known fault
        tensor.data[:] = tensor.element_type == ov.Type.boolean
    nodes = [ops.constant(tensor) for tensor in tensors]
    nodes += [ops.constant(ov.Tensor(np.array(["GatherElements", "é", "z"]))), ops.constant(np.zeros((0, 3), F32))]
    return nodes, []


def shapes():
    """A model with bounded dimensions, an open rank and scalars, and what is computed from them."""
    interval, open_rank = parameter("interval", ov.PartialShape("1..8,?,3..")), parameter("open_rank", ov.PartialShape("..."))
    scalar = parameter("scalar", [])
    outputs = [ops.multiply(ops.reduce_sum(open_rank, number([0])), scalar), ops.shape_of(interval), ops.non_zero(interval)]
    return outputs, [interval, open_rank, scalar]


def stateful():
    data, state = parameter("data", [1, 4]), variable("state", [1, 4])
    total = ops.add(data, ops.read_value(ops.constant(np.zeros((1, 4), F32)), state))
    return [total], [data], [ops.assign(total, state)]


def scattering():
    data, indices = parameter("data", [4, 3]), parameter("indices", [4, 3], np.int64)
    nodes = [
        ops.scatter_elements_update(data, indices, data, 0, "sum"),
        ops.gather_nd(data, ops.constant(np.array([[0], [3]]))),
        ops.one_hot(indices, ops.constant(5), ops.constant(F32(1)), ops.constant(F32(0)), -1),
        ops.pad(data, number([1, 1]), number([0, 0]), "reflect"),
        ops.strided_slice(data, number([0, 0]), number([4, 2]), number([1, 1]), [0, 1], [0, 0]),
        ops.random_uniform(number([2, 2]), ops.constant(F32(0)), ops.constant(F32(1)), "f32"),
        ops.cum_sum(data, ops.constant(0)),
        *ops.split(data, ops.constant(1), 3).outputs(),
    ]
    return nodes, [data, indices]


MODELS = [transformer, detector, recurrent, constants, shapes, stateful, scattering]


def model_of(build):
    """The model that one of the functions describes."""
    outputs, parameters, *sinks = build()
    return ov.Model([ops.result(output) for output in outputs], *sinks, parameters, build.__name__)
