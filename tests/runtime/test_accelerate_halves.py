"""Tables of 16-bit numbers are gathered as they are: the bits stay the same, and OpenVINO does not widen the table."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import check_accelerated, check_same, check_stays, model_of, outputs_of, parameter
from ov_gather.acceleration.graph import ours

EVERY_HALF = np.arange(2**16, dtype=np.uint16).reshape(256, 256)  # tensors share its memory


def table(kind="f16"):
    """A Constant of every number of 16 bits, and a Convert."""
    return ops.convert(ops.constant(ov.Tensor(EVERY_HALF, [256, 256], getattr(ov.Type, kind))), "f32")


def embedding(data, name="i", *, count=100, open_shape=False):
    return ops.gather(data, parameter(name, [-1] if open_shape else [count], np.int64), ops.constant(0))


def narrow_constants(model):
    """How many constants of 16 bits are left in the compiled model."""
    nodes = ov_gather.register(ov.Core()).compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).get_runtime_model()
    infos = [node.get_rt_info() for node in nodes.get_ops()]
    kinds = [info["runtimePrecision"].astype(str) for info in infos if info["layerType"].astype(str) == "Const"]
    return sum(kind in ("f16", "bf16") for kind in kinds)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_gathers_of_16_bits(kind, tmp_path, rng):
    moved, computed = (embedding(table(kind), name) for name in "ij")
    model = model_of(moved, ops.relu(computed))
    indices = np.append(rng.integers(-256, 256, 98), [256, -257])  # beyond the ends there are zeros, before and after
    found = ["Convert-1", "Convert-1", "Relu-1", "ov_gather.Gather", "ov_gather.Gather"]
    other, summary = check_accelerated(model, [indices, indices], operators=found)
    assert [change.done for change in summary.changes] == [[f"ov_gather.Gather of {kind}"]] * 2
    assert {change.rounds_elsewhere for change in summary.changes} == {False, True}
    assert narrow_constants(other) == 2
    ov.save_model(other, tmp_path / "m.xml", compress_to_fp16=False)
    saved = ov_gather.register(ov.Core()).read_model(tmp_path / "m.xml")
    assert narrow_constants(saved) == 2
    check_same(model, saved, [indices, indices])


def test_gathers_of_elements_of_16_bits(rng):
    model = model_of(ops.gather_elements(table(), parameter("i", [64, 256], np.int32), 0))
    indices = rng.integers(-256, 256, (64, 256)).astype(np.int32)
    other, _ = check_accelerated(model, [indices], operators=["Convert-1", "ov_gather.GatherElements"])
    assert narrow_constants(other) == 1


def test_denormal_numbers_of_elements_stay_zeros():
    model = model_of(ops.gather_elements(table("bf16"), parameter("i", [64, 256], np.int32), 0))
    check_accelerated(model, [np.zeros((64, 256), np.int32)])


def test_what_else_reads_the_table_keeps_it():
    data = table()
    model = model_of(embedding(data), ops.matmul(parameter("x", [3, 256]), data, False, False))
    check_stays(model, "gather-halves")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"count": 31}, "too small to gain"),
        ({"open_shape": True}, "how much it gathers is open"),
        ({"leave": ["rows"]}, "it was to stay as it is"),
        ({"portable": True}, ""),
    ],
    ids=["small", "open", "left", "portable"],
)
def test_what_stays(options, reason):
    made = {name: options[name] for name in ("count", "open_shape") if name in options}
    rows = embedding(table(), **made)
    rows.set_friendly_name("rows")
    check_stays(model_of(rows), reason=reason, **{name: options[name] for name in options.keys() - made})


def test_where_numbers_of_16_bits_go_on_ours_widens_as_openvino_does(rng):
    """Elsewhere than before a Convert the plugin computes f16 as f32, and so must our operation give f32."""
    data = ops.constant(rng.random((256, 64)).astype(np.float16))
    index = parameter("i", [9], np.int64)
    inputs = [data.output(0), index.output(0), ops.constant(0).output(0)]
    gathered = ours("Gather", inputs, {"batch_dims": 0, "bounds": "error"})
    model = model_of(ops.convert(ops.add(gathered, ops.constant(np.float16(1))), "f32"))
    indices = rng.integers(0, 256, 9)
    (found,) = outputs_of(model, [indices])
    np.testing.assert_allclose(found, data.data[indices].astype(np.float32) + 1, rtol=1e-3)
