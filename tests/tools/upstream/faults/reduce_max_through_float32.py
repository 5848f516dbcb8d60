# title: ReduceMax rounds integers to float32
# component: OpenVINO, CPU plugin
# expected: ReduceMax-1: the result has the type of data and is one of its elements
# actual: the maximum 16777217 becomes 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3], np.int32)
compiled = ov.compile_model(ov.Model([op.reduce_max(x, op.constant(np.array([0])))], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([1, 2, 16_777_217], np.int32))[0], 16_777_217)
