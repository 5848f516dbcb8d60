# title: A constant minus a reduction of bytes is 0
# component: OpenVINO, CPU plugin
# expected: Subtract-1, "Detailed description": the first operand minus the second
# actual: 100 - ReduceMax([1, 4]) of u8 is 0: the reduction is negated in its own type, which saturates
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.uint8)
largest = op.reduce_max(x, op.constant(np.array([0])), keep_dims=True)
compiled = ov.compile_model(ov.Model([op.subtract(op.constant(np.array(100, np.uint8)), largest)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([1, 4], np.uint8))[0], [96])
