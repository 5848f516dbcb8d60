"""A judgement of a small ONNX model that `convert_model` converts: onnxruntime without optimisations is the oracle."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
import openvino as ov
from numpy.typing import NDArray

from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model


def check_conversion(model: onnx.ModelProto, arrays: Sequence[NDArray[np.generic]], told: str) -> None:
    """Raise AssertionError if a converted model is wrong, and neither reported nor refused; `told` describes it.

    Integers of `arrays` fit in 32 bits. Models that onnxruntime does not execute are left out.
    """
    names = [value.name for value in model.graph.input]
    feeds = dict(zip(names, arrays, strict=True))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        right = session.run(None, feeds)
    except Exception:
        return  # it is no model, or onnxruntime has no kernel for it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LossyConversionWarning)
            warnings.filterwarnings("ignore", "i64 is computed as i32", LossyConversionWarning)
            converted = convert_model(model)
        request = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
        ports = enumerate(request.model_inputs)
        request.start_async({i: feeds[name] for i, port in ports for name in feeds if name in port.get_names()})
        request.wait()
    except (ConversionError, LossyConversionWarning, RuntimeError):
        return
    for tensor, expected in zip(request.output_tensors, right, strict=True):
        found = np.array(tensor.data)
        assert found.shape == np.shape(expected), f"{told}: {found.shape}, not {np.shape(expected)}"
        np.testing.assert_allclose(found.astype("f8"), np.asarray(expected).astype("f8"), 1e-3, 1e-3, err_msg=told)
