# title: A Convert to boolean reads the first output of the operation before it, whichever it is connected to
# component: OpenVINO, CPU plugin
# expected: an operation reads the output port that its input is connected to
# actual: Convert of the second part of a Split converts the first part; so do those after Unique, MaxPool and NonMaxSuppression
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([4], np.float32)
half = op.split(x, op.constant(0), 2).output(1)
compiled = ov.compile_model(ov.Model([op.convert(half, "boolean")], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.float32([5, 0, 0, 7]))[0], [False, True])
