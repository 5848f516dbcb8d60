# title: Pad rounds the value with which it pads integers to float32
# component: OpenVINO, CPU plugin
# expected: Pad-12, "Inputs": pad_value has the type of data, and is what new elements hold
# actual: 16777217 becomes 16777216
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.int32)
ends = op.constant(np.array([1]))
padded = op.pad(x, ends, ends, "constant", op.constant(np.int32(16_777_217)))
compiled = ov.compile_model(ov.Model([padded], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([1, 2], np.int32))[0], [16_777_217, 1, 2, 16_777_217])
