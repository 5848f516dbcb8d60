# title: Abs of a constant that was converted to integers is dropped
# component: OpenVINO, CPU plugin
# expected: Abs-1, "Detailed description": the absolute value of each element
# actual: Abs disappears: negative elements stay negative
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.int32)
negative = op.convert(op.constant(np.array([-3, 4])), "i32")
total = op.add(x, op.abs(negative))
compiled = ov.compile_model(ov.Model([total], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.zeros(2, np.int32))[0], [3, 4])
