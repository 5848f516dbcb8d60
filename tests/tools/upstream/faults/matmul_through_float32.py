# title: MatMul of integers is computed in float32
# component: OpenVINO, CPU plugin
# expected: MatMul-1, "Types": any numeric type, which is also that of the result
# actual: 16777217 * 1 + 0 * 1 is 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1, 2], np.int32)
product = op.matmul(x, op.constant(np.array([[1], [1]], np.int32)), False, False)
compiled = ov.compile_model(ov.Model([product], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([[16_777_217, 0]], np.int32))[0], [[16_777_217]])
