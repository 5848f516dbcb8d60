"""What OpenVINO itself writes is right: no error and no warning on any of its models."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.accelerating import parameter, variable
from helpers.saved_models import saved
from ov_gather import validate
from ov_gather.rules.findings import Severity

F32 = np.float32


def weights(*shape, dtype=F32):
    return op.constant(np.random.default_rng(0).integers(-8, 8, shape).astype(dtype))


def integers(*values):
    return op.constant(np.array(values, np.int64))


def transformer():
    """Embedding, attention with a mask, normalisation, a gather of the best; batch and length are open."""
    tokens = parameter("tokens", [-1, -1], np.int64)
    x = op.gather(weights(50, 16), tokens, op.constant(0))
    heads = [op.matmul(x, weights(16, 16), False, True) for _ in range(3)]
    q, k, v = (op.transpose(op.reshape(head, integers(0, 0, 2, 8), True), integers(0, 2, 1, 3)) for head in heads)
    shape = op.shape_of(tokens)
    length = op.gather(shape, integers(1), op.constant(0))
    row = op.range(op.constant(0), op.squeeze(length, op.constant(0)), op.constant(1), output_type="i64")
    mask = op.less_equal(op.unsqueeze(row, op.constant(0)), op.unsqueeze(row, op.constant(1)))
    a = op.scaled_dot_product_attention(q, k, v, op.unsqueeze(mask, integers(0, 1)))
    y = op.add(x, op.reshape(op.transpose(a, integers(0, 2, 1, 3)), integers(0, 0, 16), True))
    y = op.gelu(op.mvn(y, integers(-1), True, 1e-5, "inside_sqrt"), "tanh")
    best = op.topk(y, op.constant(3), 2, "max", "value")
    return [op.gather_elements(y, best.output(1), 2), op.softmax(y, -1)], [tokens]


def detector():
    image = parameter("image", [1, 3, 32, 32])
    x = op.convolution(image, weights(8, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    x = op.hswish(op.group_convolution(x, weights(8, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
    x = op.fake_quantize(x, *(op.constant(F32(bound)) for bound in (-1, 1, -1, 1)), levels=256)
    pooled = op.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])
    up = op.interpolate(pooled.output(0), integers(16, 16), "linear_onnx", "sizes", axes=integers(2, 3))
    y = op.reshape(op.concat([x, up], 1), integers(1, -1, 4), False)
    boxes = op.clamp(y, 0.0, 32.0)
    scores = op.reshape(op.reduce_max(y, integers(2)), integers(1, 1, -1), False)
    nms = op.non_max_suppression(boxes, scores, op.constant(5), op.constant(F32(0.5)), op.constant(F32(-100)))
    return [nms.output(0), op.gather(boxes, integers(0, 2), op.constant(1))], [image]


def recurrent():
    data = parameter("data", [2, 5, 4])
    state, length = op.constant(np.zeros((2, 1, 8), F32)), op.constant(np.array([5, 5], np.int32))
    lstm = op.lstm_sequence(data, state, state, length, weights(1, 32, 4), weights(1, 32, 8), weights(1, 32), 8, "forward")
    gru = op.gru_sequence(data, state, length, weights(1, 24, 4), weights(1, 24, 8), weights(1, 24), 8, "reverse")
    cell = op.lstm_cell(
        op.squeeze(lstm.output(1), op.constant(1)), *(weights(2, 8),) * 2, weights(32, 8), weights(32, 8), weights(32), 8
    )
    return [lstm.output(0), gru.output(0), cell.output(1)], [data]


def constants():
    """Constants of every type, of a size that does not fill the last byte, without elements, and of strings."""
    names = "boolean bf16 f16 f32 f64 i4 i8 i16 i32 i64 u1 u2 u3 u4 u6 u8 u16 u32 u64 nf4 f8e4m3 f8e5m2 f4e2m1 f8e8m0"
    tensors = [ov.Tensor(getattr(ov.Type, name), ov.Shape([1, 5])) for name in names.split()]
    for tensor in tensors:
        if tensor.element_type == ov.Type.boolean:
            tensor.data[:] = True
    nodes = [op.constant(tensor) for tensor in tensors]
    nodes += [op.constant(ov.Tensor(np.array(["GatherElements", "é", "z"]))), op.constant(np.zeros((0, 3), F32))]
    return nodes, []


def shapes():
    """A model with bounded dimensions, an open rank and scalars, and what is computed from them."""
    interval, open_rank = parameter("interval", ov.PartialShape("1..8,?,3..")), parameter("open_rank", ov.PartialShape("..."))
    scalar = parameter("scalar", [])
    outputs = [op.multiply(op.reduce_sum(open_rank, integers(0)), scalar), op.shape_of(interval), op.non_zero(interval)]
    return outputs, [interval, open_rank, scalar]


def stateful():
    data, state = parameter("data", [1, 4]), variable("state", [1, 4])
    total = op.add(data, op.read_value(op.constant(np.zeros((1, 4), F32)), state))
    return [total], [data], [op.assign(total, state)]


def scattering():
    data, indices = parameter("data", [4, 3]), parameter("indices", [4, 3], np.int64)
    nodes = [
        op.scatter_elements_update(data, indices, data, 0, "sum"),
        op.gather_nd(data, op.constant(np.array([[0], [3]]))),
        op.one_hot(indices, op.constant(5), op.constant(F32(1)), op.constant(F32(0)), -1),
        op.pad(data, integers(1, 1), integers(0, 0), "reflect"),
        op.strided_slice(data, integers(0, 0), integers(4, 2), integers(1, 1), [0, 1], [0, 0]),
        op.random_uniform(integers(2, 2), op.constant(F32(0)), op.constant(F32(1)), "f32"),
        op.cum_sum(data, op.constant(0)),
        *op.split(data, op.constant(1), 3).outputs(),
    ]
    return nodes, [data, indices]


MODELS = [transformer, detector, recurrent, constants, shapes, stateful, scattering]


@pytest.mark.parametrize("compress", [False, True], ids=["as it is", "f16"])
@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_models(build, compress, tmp_path):
    outputs, parameters, *sinks = build()
    results = [op.result(output) for output in outputs]
    model = ov.Model(results, *sinks, parameters, build.__name__)
    if compress:
        ov.save_model(model, tmp_path / "model.xml")
    else:
        ov.serialize(model, tmp_path / "model.xml")
    assert complaints(tmp_path / "model.xml") == []


OF_ONNX = {
    "loop": """(float[2,3] data, int32[2,3] indices, int64 n) => (float[2,3] last, float[k,2,3] every) {
        last, every = Loop (n, , data) <body = b (int64 i, bool go, float[2,3] inner)
            => (bool on, float[2,3] total, float[2,3] all) {
            on = Identity(go) rows = GatherElements<axis = 1>(inner, indices) number = Cast<to = 1>(i)
            total = Add(rows, number) all = Identity(total) }> }""",
    "scan": """(float[3] first, float[4,3] rows) => (float[3] last, float[4,3] all) {
        last, all = Scan (first, rows) <num_scan_inputs = 1, body = b (float[3] before, float[3] row)
            => (float[3] after, float[3] copy) { after = Add(before, row) copy = Identity(after) }> }""",
    "branches": """(bool condition, float[n,3] data) => (float[n,3] out) {
        out = If (condition) <then_branch = a () => (float[n,3] p) { p = Relu(data) },
                              else_branch = b () => (float[n,3] q) { q = Neg(data) }> }""",
}


@pytest.mark.parametrize("name", OF_ONNX)
def test_models_from_onnx(name, tmp_path):
    source = saved(tmp_path / "model.onnx", OF_ONNX[name], 17)
    for compress in (False, True):
        ov.save_model(ov.convert_model(source), tmp_path / "model.xml", compress_to_fp16=compress)
        assert complaints(tmp_path / "model.xml") == []


def complaints(path):
    return [finding for finding in validate(path) if finding.severity is not Severity.NOTE]
