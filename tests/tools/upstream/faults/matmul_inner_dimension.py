# title: MatMul with constant weights accepts an inner dimension of 1 against 3
# component: OpenVINO, CPU plugin
# expected: MatMul-1, "Detailed description": the inner dimensions are equal; for two inputs, other sizes raise
# actual: inference succeeds, and reads beyond the first operand
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, -1], np.float32)
product = op.matmul(x, op.constant(np.ones((3, 2), np.float32)), False, False)
compiled = ov.compile_model(ov.Model([product], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
request = compiled.create_infer_request()

try:
    request.start_async([np.full((2, 1), 5, np.float32)])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"a product of 2x1 and 3x2: {request.get_output_tensor().data.tolist()}")
