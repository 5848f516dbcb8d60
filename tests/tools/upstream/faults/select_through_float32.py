# title: Select rounds integers to float32 if its condition is a comparison or logic
# component: OpenVINO, CPU plugin
# expected: Select-1: each element of the output is an element of `then` or of `else`
# actual: the comparison and Select are computed together in float32: 16777217 becomes 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

c, x, y = (op.parameter([2], np.int32) for _ in range(3))
chosen = op.select(op.less(c, op.constant(np.int32(0))), x, y)
compiled = ov.compile_model(ov.Model([chosen], [c, x, y]), "CPU")

feed = [np.array(values, np.int32) for values in ([-1, 1], [16_777_217, 0], [0, 16_777_219])]
np.testing.assert_array_equal(compiled(feed)[0], np.where(feed[0] < 0, *feed[1:]))
