# title: Pad with constant widths takes its value before it is computed
# component: OpenVINO, CPU plugin
# expected: Pad-12, "Inputs": pad_value is an input, and what new elements hold
# actual: new elements are 0, or hold the value of an earlier inference if data has an open shape; computed widths are right
# issues: openvinotoolkit/openvino#15146
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, value = op.parameter([2], np.int32), op.parameter([], np.int32)
ends = op.constant(np.array([1]))
compiled = ov.compile_model(ov.Model([op.pad(x, ends, ends, "constant", value)], [x, value]), "CPU")

np.testing.assert_array_equal(compiled([np.array([1, 2], np.int32), np.array(7, np.int32)])[0], [7, 1, 2, 7])
