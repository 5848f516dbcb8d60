# title: ReverseSequence rounds integers to float32
# component: OpenVINO, CPU plugin
# expected: ReverseSequence-1: elements are moved, not changed
# actual: 16777217 becomes 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1, 3], np.int32)
reversed_ = op.reverse_sequence(x, op.constant(np.array([3], np.int32)), 0, 1)
compiled = ov.compile_model(ov.Model([reversed_], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([[1, 2, 16_777_217]], np.int32))[0], [[16_777_217, 2, 1]])
