# title: Equal compares integers as float32
# component: OpenVINO, CPU plugin
# expected: Equal-1: true if the operands are equal
# actual: 16777216 and 16777217 are equal
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, y = op.parameter([1], np.int32), op.parameter([1], np.int32)
compiled = ov.compile_model(ov.Model([op.equal(x, y)], [x, y]), "CPU")

a, b = np.array([16_777_216], np.int32), np.array([16_777_217], np.int32)
np.testing.assert_array_equal(compiled([a, b])[0], a == b)
