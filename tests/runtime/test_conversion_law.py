"""The law of conversion: a converted model computes what ONNX says, or the conversion reports where it does not.

Each idiom that OpenVINO computes wrongly, with each layer that changes nothing between its halves.
"""

import warnings

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import openvino as ov
import pytest

from helpers.idioms import IDIOMS, LAYERS, model_of
from ov_gather.converters import LossyConversionWarning, convert_model

pytestmark = pytest.mark.onnxruntime


@pytest.mark.parametrize("place", ["top", "If"])
@pytest.mark.parametrize("opset", [11, 13, 18, 21])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("idiom", IDIOMS)
def test_a_layer_between_changes_nothing(idiom, layer, opset, place):
    model, feeds = model_of(idiom, layer, opset, place)
    try:
        onnx.checker.check_model(model)
        expected = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feeds)
    except Exception as error:
        pytest.skip(f"no model of this opset: {str(error)[:80]}")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LossyConversionWarning)
        converted = convert_model(model)
    request = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    request.start_async(
        {i: feeds[name] for i, port in enumerate(request.model_inputs) for name in feeds if name in port.get_names()}
    )
    request.wait()
    right = [np.array_equal(one, request.get_output_tensor(i).data) for i, one in enumerate(expected)]
    assert all(right) or any(issubclass(one.category, LossyConversionWarning) for one in told)
