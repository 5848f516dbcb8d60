# title: Power of integers is computed in float32
# component: OpenVINO, CPU plugin
# expected: Power-1: the result has the type of the operands, and 4097 squared fits into i32
# actual: 4097 to the power of 2 is 16785410 instead of 16785409
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, y = op.parameter([1], np.int32), op.parameter([1], np.int32)
compiled = ov.compile_model(ov.Model([op.power(x, y)], [x, y]), "CPU")

np.testing.assert_array_equal(compiled([np.array([4097], np.int32), np.array([2], np.int32)])[0], [4097**2])
