"""Gathers of constants become constants: where OpenVINO would misread them, and in whatever `convert` writes."""

import numpy as np
import onnx
import openvino as ov
import pytest
from openvino import opset8
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import accelerated, check_same, model_of, operations, outputs_of, parameter
from helpers.saved_models import parsed
from ov_gather.acceleration import fold_constants
from ov_gather.converters import convert_model
from ov_gather.converters.models import convert

RNG = np.random.default_rng(3)
T, N, H = 12, 3, 5
DATA, INDEX = RNG.standard_normal((T, N, H), np.float32), RNG.integers(-T, T, (T, N, H))
X = RNG.standard_normal((2, 7, N, H), np.float32)
GATHERED = np.take_along_axis(DATA, INDEX, 0)


def gathered(kind="GatherElements", index=INDEX):
    if kind == "GatherElements":
        return ops.gather_elements(ops.constant(DATA), ops.constant(index), 0)
    return ops.gather_nd(ops.constant(DATA), ops.constant(index[:, 0, :1]))


def attention(constant):
    """The scores of positions as Funnel computes them, a sum over the last dimension of both operands."""
    return ops.einsum([parameter("x", X.shape), constant], "binh,tnh->bnit")


def turned(constant):
    """The operations that OpenVINO makes of such an Einsum."""
    x = ops.reshape(parameter("x", [N, 14, H]), ops.constant(np.array([N, 14, H])), special_zero=False)
    return ops.matmul(x, ops.transpose(constant, ops.constant(np.array([1, 0, 2]))), False, True)


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("kind", ["GatherElements", "GatherND"])
def test_a_matmul_does_not_misread_a_gather_of_constants(kind, portable):
    expected = GATHERED if kind == "GatherElements" else DATA[INDEX[:, 0, 0]]
    flat = X.transpose(2, 0, 1, 3).reshape(N, 14, H)
    for model, given, right in (
        (model_of(attention(gathered(kind))), X, np.einsum("binh,tnh->bnit", X, expected)),
        (model_of(turned(gathered(kind))), flat, np.einsum("nih,tnh->nit", flat, expected)),
    ):
        other, summary = accelerated(model, portable=portable)
        np.testing.assert_allclose(outputs_of(other, [given])[0], right, atol=1e-5)
        assert [change.done for change in summary.changes] == [["Constant, as a MatMul would read it in the wrong layout"]]


def test_arithmetic_between_the_gather_and_the_matmul(rng):
    weights = rng.standard_normal((H, N, H), np.float32)
    rows = ops.gather_elements(ops.constant(DATA[:, 0]), ops.constant(INDEX[:, 0]), 0)
    model = model_of(attention(ops.einsum([rows, ops.constant(weights)], "td,dnh->tnh")))
    other, _ = accelerated(model)
    heads = np.einsum("td,dnh->tnh", np.take_along_axis(DATA[:, 0], INDEX[:, 0], 0), weights)
    np.testing.assert_allclose(outputs_of(other, [X])[0], np.einsum("binh,tnh->bnit", X, heads), atol=1e-4)


@pytest.mark.parametrize("element_type", ["f32", "f16", "bf16", "f64", "i8", "u16", "i32", "i64", "boolean", "f8e4m3"])
def test_constants_of_every_type_are_folded_bit_by_bit(element_type, rng):
    kind = getattr(ov.Type, element_type)
    data = ov.op.Constant(kind, ov.Shape([4, 6]), rng.integers(0, 2, 24).tolist())
    index = rng.integers(-4, 4, (9, 6))
    model = model_of(ops.gather_elements(data, ops.constant(index), 0))
    fold_constants.fold_constants(model, fold_constants.Tracker(model), only_misread=False)
    (node,) = [node for node in model.get_ops() if node.get_type_name() == "Constant"]
    assert (node.get_element_type(), list(node.shape)) == (kind, [9, 6])
    assert node.data.tobytes() == np.take_along_axis(data.data, index, 0).tobytes()


@pytest.mark.parametrize("turn", [[0, 2, 1], None])
def test_what_is_read_right_stays(turn, rng):
    """A constant might be fused with something, and so be rounded elsewhere."""
    batched = ops.matmul(parameter("x", [T, 4, H]), gathered(), False, True)
    scaled = ops.multiply(parameter("x", [T, N, H]), gathered())
    for made in (batched, scaled) if turn is None else (ops.matmul(parameter("x", [T, 4, N]), _turn(gathered(), turn), 0, 1),):
        model = model_of(made)
        other, summary = accelerated(model)
        assert [change.done for change in summary.changes] == [[]]
        check_same(model, other, [rng.standard_normal(tuple(model.inputs[0].shape), np.float32)])


def _turn(value, order):
    return ops.transpose(value, ops.constant(np.array(order)))


def test_an_index_out_of_bounds_stays_an_error():
    index = INDEX.copy()
    index[3, 1, 2] = T
    model = model_of(attention(gathered(index=index)))
    other, _ = accelerated(model)
    for each in (model, other):
        with pytest.raises(RuntimeError, match="GatherElement"):
            outputs_of(each, [X])


FUNNEL = """(float[2,7,3,5] x) => (float[2,3,7,12] y, float[12,3,5] z) {
    g = GatherElements<axis=0>(d, i) y = Einsum<equation="binh,tnh->bnit">(x, g) z = GatherElements<axis=0>(d, j) }"""


@pytest.mark.parametrize("as_inputs", [False, True])
def test_what_convert_writes_is_read_right(as_inputs, tmp_path):
    """OpenVINO takes initializers for constants also where they are inputs, as they had to be up to IR version 3."""
    proto = parsed(FUNNEL, 13, d=DATA, i=INDEX, j=np.flip(INDEX))
    if as_inputs:
        proto.graph.input.extend(
            onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims) for tensor in proto.graph.initializer
        )
    onnx.save(proto, tmp_path / "m.onnx")
    conversion = convert(tmp_path / "m.onnx")
    folded = [rewrite.node for rewrite in conversion.rewrites if rewrite.what == "gather of constants folded"]
    assert len(folded) == 2
    convert_model(tmp_path / "m.onnx", output=tmp_path / "m.xml")
    written = ov.Core().read_model(tmp_path / "m.xml")
    assert "GatherElements-6" not in operations(written)
    scores, copied = outputs_of(written, [X])
    np.testing.assert_allclose(scores, np.einsum("binh,tnh->bnit", X, GATHERED), atol=1e-5)
    assert np.array_equal(copied, np.take_along_axis(DATA, np.flip(INDEX), 0))


def test_a_model_does_not_grow_large(monkeypatch):
    """A repeated index makes a large result of small constants: it is folded only where it would be misread."""
    monkeypatch.setattr(fold_constants, "LARGEST", 1000)
    index = ops.broadcast(ops.constant(INDEX[:1, :1, :1]), ops.constant(np.array([500, N, H])))
    data = ops.constant(DATA)
    for made, count in (
        (ops.add(parameter("x", [500, N, H]), ops.gather_elements(data, index, 0)), 1),
        (attention(ops.gather_elements(data, index, 0)), 0),
        (ops.add(parameter("x", [T, N, H]), gathered()), 0),
    ):
        model = model_of(made)
        fold_constants.fold_constants(model, fold_constants.Tracker(model), only_misread=False)
        assert operations(model).count("GatherElements-6") == count


def test_batches_of_the_older_gather_nd(rng):
    index = rng.integers(0, N, (T, 4, 1))
    model = model_of(opset8.relu(ov.opset5.gather_nd(ops.constant(DATA), ops.constant(index), 1)))
    before = outputs_of(model, [])
    fold_constants.fold_constants(model, fold_constants.Tracker(model), only_misread=False)
    assert "GatherND-5" not in operations(model)
    assert outputs_of(model, [])[0].tobytes() == before[0].tobytes()
    assert ov_gather.accelerate(model).changes == ()
