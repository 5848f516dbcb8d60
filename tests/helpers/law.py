"""The law of conversion: a converted model is right, or its report names the operator; and no report is false."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import Enum

import numpy as np
import onnx
import onnxruntime
import openvino as ov

from helpers.idioms import IDIOMS, Form
from ov_gather.converters import ConversionError, LossyConversionWarning, convert_model

STOCK = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
_OF_OTHER_INPUTS = ("i64 is computed as i32", "OVG712: Unique of no elements")
"""How reports begin that are true for integers beyond 32 bits, or for empty tensors, which no idiom has."""


class Kind(Enum):
    """What a conversion did to a form."""

    NO_MODEL = "no model of its opset"
    RIGHT = "right"
    REPORTED = "wrong, and reported"
    REFUSED = "refused"
    SILENT = "wrong, and not reported"
    FALSE_ALARM = "right, but reported"


EXCEPTIONS = (Kind.SILENT, Kind.FALSE_ALARM)
"""What breaks the law, and its twin."""


@dataclass(frozen=True)
class Verdict:
    """A kind, and what was told or went wrong."""

    kind: Kind
    text: str


def judge(form: Form) -> Verdict:
    """Convert the model of a form, execute it on OpenVINO, and compare it with onnxruntime, which optimizes nothing."""
    model, feeds = form.model()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, feeds)
    except Exception as error:
        return Verdict(Kind.NO_MODEL, str(error))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LossyConversionWarning)
        try:
            converted = convert_model(model)
        except ConversionError as error:
            return Verdict(Kind.REFUSED, str(error))
    told = [str(one.message) for one in caught if issubclass(one.category, LossyConversionWarning)]
    try:
        request = ov.Core().compile_model(converted, "CPU", STOCK).create_infer_request()
        ports = enumerate(request.model_inputs)
        request.start_async({i: array for i, port in ports for name, array in feeds.items() if name in port.get_names()})
        request.wait()
        found = [tensor.data for tensor in request.output_tensors]
    except RuntimeError as error:
        return Verdict(Kind.SILENT, f"{error}\n{told}")
    text = f"{found}, not {expected}; told: {told}"
    if all(map(np.array_equal, expected, found)):
        # Of a model of constants no result differs for other inputs: nothing says whether a report is true.
        is_false = form.source != "constant" and any(not line.startswith(_OF_OTHER_INPUTS) for line in told)
        return Verdict(Kind.FALSE_ALARM if is_false else Kind.RIGHT, text)
    is_named = any(operator in line for line in told for operator in IDIOMS[form.idiom].operators)
    return Verdict(Kind.REPORTED if is_named else Kind.SILENT, text)
