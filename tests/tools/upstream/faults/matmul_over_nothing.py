# title: MatMul over an inner size of 0 returns uninitialized memory
# component: OpenVINO, CPU plugin
# expected: MatMul-1: a sum of no products is 0
# actual: with constant weights whatever memory holds; with bf16 the model is refused
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, 0], np.float32)
product = op.matmul(x, op.constant(np.zeros((0, 64), np.float32)), False, False)
compiled = ov.compile_model(ov.Model([product], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

for _ in range(20):
    np.full((64, 64), 7, np.float32)
    np.testing.assert_array_equal(compiled(np.zeros((64, 0), np.float32))[0], np.zeros((64, 64)))
