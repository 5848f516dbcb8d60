"""Models that NNCF quantised or compressed: accelerated, portable and converted ones compile, and keep their bits in f32."""

from __future__ import annotations

import nncf
import numpy as np
import onnx
import openvino as ov
import pytest
from accelerating import accelerated, operations
from ov_gather.converters.models import convert, written
from small_architectures import ARCHITECTURES

from ov_gather.runtimes.isolated import borrowed

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

EACH = pytest.mark.parametrize("name", ARCHITECTURES)


@pytest.fixture
def example(name, tmp_path):
    proto, inputs = ARCHITECTURES[name](np.random.default_rng(1))
    onnx.save(proto, tmp_path / "original.onnx")
    return proto, inputs


def dataset(inputs):
    """As the inputs, and another of other numbers."""
    other = {name: array[..., ::-1].copy() if array.dtype == np.float32 else array for name, array in inputs.items()}
    return nncf.Dataset([inputs, other])


def outputs_of(path, inputs, runtime):
    with borrowed([runtime]) as (worker,):
        found = worker.run(path, list(inputs.values()))
    if isinstance(found, Exception):
        raise found
    return found


def check_same(expected, found):
    for one, other in zip(expected, found, strict=True):
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


def check_accelerated(model, inputs, directory):
    """Ours and portable; in a worker process, as OpenVINO may crash."""
    ov.serialize(model, directory / "quantised.xml")
    expected = outputs_of(directory / "quantised.xml", inputs, "openvino")
    for options, runtime in (({}, "extension"), ({"portable": True, "assume_in_bounds": True}, "openvino")):
        other, _ = accelerated(model, **options)
        ov.serialize(other, directory / "accelerated.xml")
        check_same(expected, outputs_of(directory / "accelerated.xml", inputs, runtime))


@EACH
def test_quantised_to_int8(example, tmp_path):
    _, inputs = example
    model = nncf.quantize(ov.Core().read_model(tmp_path / "original.onnx"), dataset(inputs), subset_size=2)
    assert "FakeQuantize-1" in operations(model)
    assert "GatherElements-6" in operations(model)
    check_accelerated(model, inputs, tmp_path)


@EACH
def test_weights_of_4_bits(example, tmp_path):
    _, inputs = example
    model = ov.Core().read_model(tmp_path / "original.onnx")
    options = {"mode": nncf.CompressWeightsMode.INT4_ASYM, "group_size": 16, "all_layers": True}
    compressed = nncf.compress_weights(model, **options)
    assert "FakeQuantize-1" not in operations(compressed)
    assert any(node.get_output_element_type(0) == ov.Type.u4 for node in compressed.get_ops() if node.get_output_size())
    check_accelerated(compressed, inputs, tmp_path)


@EACH
def test_quantised_as_onnx(example, tmp_path):
    """QuantizeLinear and DequantizeLinear, which ONNX Runtime's users quantise to."""
    proto, inputs = example
    quantised = nncf.quantize(proto, dataset(inputs), subset_size=2)
    assert "QuantizeLinear" in {node.op_type for node in quantised.graph.node}
    onnx.save(quantised, tmp_path / "quantised.onnx")
    expected = outputs_of(tmp_path / "quantised.onnx", inputs, "openvino")
    for target, runtime in (("stock", "openvino"), ("extension", "extension")):
        with written(convert(tmp_path / "quantised.onnx", target=target).model, tmp_path / "converted.xml"):
            pass
        check_same(expected, outputs_of(tmp_path / "converted.xml", inputs, runtime))
