"""`accelerate` on quantised models: OpenVINO's low-precision passes must not come to other bits, nor crash."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.accelerating import accelerated, model_of, operations, parameter
from ov_gather.divergences import low_precision
from ov_gather.runtimes.isolated import borrowed

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

RNG = np.random.default_rng(7)
X = RNG.standard_normal((1, 16, 32)).astype(np.float32)
ROWS = RNG.integers(0, 8, (1, 6, 1))


def constant(value, dtype=np.float32):
    return ops.constant(np.array(value, dtype))


def fake_quantize(value, low=-2.0, high=1.9):
    bounds = constant(low), constant(high)
    return ops.fake_quantize(value, *bounds, *bounds, 256)


def dequantised(value):
    """The operations that OpenVINO reads from QuantizeLinear and DequantizeLinear with a zero point."""
    bounds = constant(-2.4), constant(2.7), constant(0), constant(255)
    quantised = ops.convert(ops.fake_quantize(value, *bounds, 256), "u8")
    return ops.multiply(ops.subtract(ops.convert(quantised, "f32"), constant(120)), constant(0.02))


def int8(rows, columns):
    rng = np.random.default_rng(7)
    weights = ops.convert(ops.constant(rng.integers(-127, 127, (rows, columns)).astype(np.int8)), "f32")
    return ops.multiply(weights, constant(0.01 + rng.random((1, columns)) / 100))


def pooled(value):
    square = ops.unsqueeze(value, constant([0], np.int64))
    return ops.squeeze(ops.max_pool(square, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2]).output(0), constant([0], np.int64))


BETWEEN = {
    "nothing": lambda value: value,
    "MatMul of int8": lambda value: ops.matmul(value, int8(32, 32), False, False),
    "Transpose": lambda value: ops.transpose(value, constant([0, 2, 1], np.int64)),
    "Reshape": lambda value: ops.reshape(value, constant([1, -1, 16], np.int64), special_zero=False),
    "Relu": ops.relu,
    "MaxPool": pooled,
    "Concat": lambda value: ops.concat([value, value], 1),
    "Split": lambda value: ops.split(value, constant(1, np.int64), 2).output(0),
    "Slice": lambda value: ops.slice(value, *(constant([bound], np.int64) for bound in (0, 8, 1, 1))),
    "Add": lambda value: ops.add(value, value),
    "Clamp": lambda value: ops.clamp(value, -1, 1),
    "ReduceMax": lambda value: ops.reduce_max(ops.unsqueeze(value, constant([1], np.int64)), constant([1], np.int64)),
    "Broadcast": lambda value: ops.broadcast(value, constant([2, 16, 32], np.int64)),
    "Gather": lambda value: ops.gather(value, constant([*range(8)], np.int64), constant(1, np.int64)),
}
STOPS = {
    "Softmax": lambda value: ops.softmax(value, -1),
    "LogSoftmax": lambda value: ops.log_softmax(value, -1),
    "Sigmoid": ops.sigmoid,
    "Tanh": ops.tanh,
    "Gelu": lambda value: ops.gelu(value, "erf"),
    "Exp": ops.exp,
    "Swish": ops.swish,
    "Sqrt": lambda value: ops.sqrt(ops.abs(value)),
    "Power": lambda value: ops.power(value, constant(2)),
}
BEHIND = {
    "nothing": lambda value: value,
    "MatMul of int8": lambda value: ops.matmul(value, int8(int(value.get_output_shape(0)[-1]), 8), False, False),
    "FakeQuantize and MatMul": lambda value: BEHIND["MatMul of int8"](fake_quantize(value, -1.0, 1.1)),
    "Add": lambda value: ops.add(value, constant(np.random.default_rng(7).standard_normal(int(value.get_output_shape(0)[-1])))),
}


def rows_of(value, index=None):
    value = value if isinstance(value, ov.Output) else value.output(0)
    batch, _, width = value.get_shape()
    index = parameter("i", ROWS.shape, np.int64) if index is None else index
    return ops.gather_elements(value, ops.broadcast(index, constant([batch, 6, width], np.int64)), 1)


def check_same(tmp_path, model, x=X, **options):
    """Assert that a model and the accelerated one compute the same bits in f32, in a worker process; returns the latter."""
    other, summary = accelerated(model, **options)
    names = [parameter.get_friendly_name() for parameter in model.get_parameters()]
    given = [{"x": x, "i": ROWS}[name] for name in names]
    outputs = []
    with borrowed(["extension"]) as (runtime,), runtime:
        for number, each in enumerate((model, other)):
            ov.serialize(each, tmp_path / f"{number}.xml")
            runtime.activate(tmp_path / f"{number}.xml")
            outputs.append(runtime.execute(given))
    for one, two in zip(*outputs, strict=True):
        assert one.tobytes() == two.tobytes()
    return other, summary


OPTIONS = pytest.mark.parametrize("options", [{}, {"portable": True, "assume_in_bounds": True}], ids=["ours", "portable"])


@pytest.mark.sampled(5)
@OPTIONS
@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("source", [fake_quantize, dequantised])
def test_a_gather_of_what_was_quantised(source, behind, options, tmp_path):
    """OpenVINO would compute Gather-8, and what follows, in 8 bits."""
    model = model_of(BEHIND[behind](rows_of(source(parameter("x", X.shape)))))
    other, summary = check_same(tmp_path, model, **options)
    assert "Gather-8" not in operations(other)
    if options:
        assert summary.changes[0].reason == low_precision.REASON


@OPTIONS
@pytest.mark.parametrize("axis", [0, 1])
def test_an_int8_matmul_whose_columns_are_gathered(axis, options, tmp_path, rng):
    """A Gather-8 here would make OpenVINO crash, as there is one scale for all weights, and a zero point."""
    weights = ops.convert(ops.constant(rng.integers(-127, 127, (32, 16)).astype(np.int8)), "f32")
    product = ops.matmul(dequantised(parameter("x", [16, 32])), ops.multiply(weights, constant(0.013)), False, False)
    shape = [6, 16] if axis == 0 else [16, 6]
    index = ops.constant(rng.integers(0, 16, [6, 1] if axis == 0 else [1, 6]))
    gathered = ops.gather_elements(product, ops.broadcast(index, constant(shape, np.int64)), axis)
    check_same(tmp_path, model_of(ops.relu(gathered)), x=X[0], **options)


@pytest.mark.sampled(9)
@OPTIONS
@pytest.mark.parametrize("between", BETWEEN)
def test_operations_that_dequantisation_moves_through(between, options, tmp_path):
    value = BETWEEN[between](fake_quantize(parameter("x", X.shape)))
    other, _ = check_same(tmp_path, model_of(BEHIND["MatMul of int8"](rows_of(value))), **options)
    assert "Gather-8" not in set(operations(other)) - ({"Gather-8"} if between == "Gather" else set())


def test_a_slice_that_openvino_removes_before_gather_elements(tmp_path):
    """The Slice stays before our operation, and would be computed in 8 bits."""
    model = model_of(rows_of(BETWEEN["Slice"](fake_quantize(parameter("x", X.shape)))))
    other, summary = check_same(tmp_path, model)
    assert "GatherElements-6" in operations(other)
    assert summary.changes[0].reason == "OpenVINO removes the Slice before it, but would compute that in 8 bits before ours"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("between", STOPS)
def test_operations_behind_which_nothing_is_dequantised(between, tmp_path):
    value = STOPS[between](fake_quantize(parameter("x", X.shape)))
    model = model_of(BEHIND["MatMul of int8"](rows_of(value)))
    other, _ = check_same(tmp_path, model, portable=True, assume_in_bounds=True)
    assert "Gather-8" in operations(other)


@OPTIONS
def test_what_is_not_quantised_in_a_quantised_model(options, tmp_path):
    gathered = rows_of(parameter("x", X.shape), constant(ROWS, np.int64))
    other, _ = check_same(tmp_path, model_of(BEHIND["FakeQuantize and MatMul"](gathered)), **options)
    assert "Gather-8" in operations(other)


@pytest.mark.sampled(10)
@OPTIONS
@pytest.mark.parametrize("element_type", ["i8", "u8", "i4", "u4", "nf4", "f16", "bf16"])
def test_compressed_weights_alone(element_type, options, tmp_path, rng):
    """OpenVINO computes in 8 bits only where a FakeQuantize is."""
    kind, shape = getattr(ov.Type, element_type), ov.Shape([32, 32])
    elements = rng.integers(0 if element_type.startswith("u") else -7, 7, 1024) if element_type[0] in "iu" else None
    elements = rng.standard_normal(1024) if elements is None else elements
    weights = ops.multiply(ops.convert(ov.op.Constant(kind, shape, elements.tolist()), "f32"), constant(rng.random((32, 1))))
    gathered = rows_of(ops.matmul(parameter("x", X.shape), weights, False, True), constant(ROWS, np.int64))
    other, _ = check_same(tmp_path, model_of(ops.multiply(gathered, constant(rng.random(32)))), **options)
    assert "Gather-8" in operations(other)


@OPTIONS
def test_neighbours_and_labels_of_a_quantised_model(options, tmp_path):
    """Two gathers side by side become one, and a gather behind LogSoftmax moves before it."""
    value = ops.matmul(fake_quantize(parameter("x", X.shape)), int8(32, 32), False, False)
    index = parameter("i", ROWS.shape, np.int64)
    joined = ops.matmul(fake_quantize(ops.concat([rows_of(value, index), rows_of(value, index)], 2)), int8(64, 8), False, False)
    labels = ops.broadcast(BETWEEN["Transpose"](index), constant([1, 16, 6], np.int64))
    scores = ops.gather_elements(ops.log_softmax(value, -1), labels, 2)
    other, summary = check_same(tmp_path, model_of(joined, scores), **options)
    assert "LogSoftmax-5" in operations(other)
    assert "Gather-8 for 2" not in str(summary)
