# title: Divide of integers is computed in float32
# component: OpenVINO, CPU plugin
# expected: Divide-1: the quotient of integers is an exact integer, rounded down
# actual: (2^31 - 1) / 7 is 14 too high
# issues: openvinotoolkit/openvino#35830
import numpy as np
import openvino as ov
from openvino import opset13 as op

a, b = np.array([2_147_483_647, 7], np.int32), np.array([7, 2], np.int32)
x, y = op.parameter([2], np.int32), op.parameter([2], np.int32)
compiled = ov.compile_model(ov.Model([op.divide(x, y)], [x, y]), "CPU")

np.testing.assert_array_equal(compiled([a, b])[0], a // b)
