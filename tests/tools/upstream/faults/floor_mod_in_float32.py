# title: FloorMod of integers is computed in float32
# component: OpenVINO, CPU plugin
# expected: FloorMod-1, "Detailed description": the remainder of integers is exact
# actual: operands beyond 2^24 are rounded to float32, and the remainder is another number
# issues: openvinotoolkit/openvino#35829
import numpy as np
import openvino as ov
from openvino import opset13 as op

a, b = np.array([16_777_217, 2_147_483_647], np.int32), np.array([16_777_216, 1000], np.int32)
x, y = op.parameter([2], np.int32), op.parameter([2], np.int32)
compiled = ov.compile_model(ov.Model([op.floor_mod(x, y)], [x, y]), "CPU")

np.testing.assert_array_equal(compiled([a, b])[0], a % b)
