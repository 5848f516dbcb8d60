# title: A constant divided by a reduction is computed with the operands exchanged
# component: OpenVINO, CPU plugin
# expected: Divide-1, "Detailed description": the first operand divided by the second
# actual: 2 / ReduceMax([7]) gives 7 / 2
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1], np.int32)
largest = op.reduce_max(x, op.constant(np.array([0])), keep_dims=True)
quotient = op.divide(op.constant(np.array([2], np.int32)), largest)
compiled = ov.compile_model(ov.Model([quotient], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([7], np.int32))[0], [0])
