# title: Limits of integers are rounded to float32 in a Clamp, and in a Minimum of a Maximum
# component: OpenVINO, CPU plugin
# expected: Minimum-1, Maximum-1: each element of the output is an element of an input
# actual: a Clamp is made of both, whose limits are rounded to float32: 16777217 becomes 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3], np.int32)
low, high = (op.constant(np.int32(limit)) for limit in (0, 16_777_217))
compiled = ov.compile_model(ov.Model([op.minimum(op.maximum(x, low), high)], [x]), "CPU")

values = np.array([-1, 5, 16_777_219], np.int32)
np.testing.assert_array_equal(compiled([values])[0], np.clip(values, 0, 16_777_217))
