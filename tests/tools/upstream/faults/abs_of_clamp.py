# title: Abs of a Clamp of negative integers is dropped
# component: OpenVINO, CPU plugin
# expected: Abs-1, "Detailed description": the absolute value of each element
# actual: Abs disappears: negative elements stay negative
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.int32)
limited = op.clamp(op.constant(np.array([-7, -2], np.int32)), -3, -1)
total = op.add(x, op.abs(limited))
compiled = ov.compile_model(ov.Model([total], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.zeros(2, np.int32))[0], [3, 2])
