# title: Unique of no elements fails, or returns the result of the inference before
# component: OpenVINO, CPU plugin
# expected: Unique-10: the unique elements of no elements are no elements
# actual: the first inference raises "Cannot get dims for non static shape"; a later one returns the result of the one before
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1], np.float32)
compiled = ov.compile_model(ov.Model([op.unique(x).output(0)], [x]), "CPU")
compiled(np.float32([3, 1, 3]))

np.testing.assert_array_equal(compiled(np.zeros(0, np.float32))[0], np.zeros(0, np.float32))
