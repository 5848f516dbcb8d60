"""Models that NNCF quantised or compressed: accelerated, portable and converted ones compile, and keep their bits in f32."""

import numpy as np
import onnx
import openvino as ov
import pytest

from helpers.accelerating import operations
from helpers.quantising import SAME, accelerated, converted, to_int4, to_int8, to_qdq
from helpers.small_architectures import ARCHITECTURES

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

EACH = pytest.mark.parametrize("name", ARCHITECTURES)


@pytest.fixture
def example(name, tmp_path):
    proto, inputs = ARCHITECTURES[name](np.random.default_rng(1))
    onnx.save(proto, tmp_path / "original.onnx")
    return tmp_path / "original.onnx", inputs


@pytest.mark.sampled(1)
@EACH
def test_quantised_to_int8(example, tmp_path):
    model = to_int8(*example)
    assert {"FakeQuantize-1", "GatherElements-6"} <= set(operations(model))
    assert [found for _, found in accelerated(model, example[1], tmp_path)] == [SAME, SAME]


@pytest.mark.sampled(3)
@EACH
def test_weights_of_4_bits(example, tmp_path):
    model = to_int4(*example)
    assert any(node.get_output_element_type(0) == ov.Type.u4 for node in model.get_ops() if node.get_output_size())
    assert "FakeQuantize-1" not in operations(model)
    results = dict(accelerated(model, example[1], tmp_path))
    assert set(results.values()) == {SAME}
    assert not any(", 0 gathers changed" in way for way in results)


@pytest.mark.sampled(1)
@EACH
def test_quantised_as_onnx(example, tmp_path):
    model = to_qdq(*example)
    assert "QuantizeLinear" in {node.op_type for node in model.graph.node}
    assert [found for _, found in converted(model, example[1], tmp_path)] == [SAME, SAME]
