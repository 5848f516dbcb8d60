# title: ReduceSum, ReduceL1 and ReduceMean of integers are computed in float32
# component: OpenVINO, CPU plugin
# expected: ReduceSum-1: the result has the type of data
# actual: 16777216 + 1 is 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.int32)
compiled = ov.compile_model(ov.Model([op.reduce_sum(x, op.constant(np.array([0])))], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([16_777_216, 1], np.int32))[0], 16_777_217)
