# title: ReLU and PReLU round integers to float32
# component: OpenVINO, CPU plugin
# expected: ReLU-1, "Detailed description": max(0, x), in the type of x
# actual: ReLU of 16777217 is 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1], np.int32)
compiled = ov.compile_model(ov.Model([op.relu(x)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([16_777_217], np.int32))[0], [16_777_217])
