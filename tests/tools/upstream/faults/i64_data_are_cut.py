# title: Operations that only move 64-bit integers cut them to 32 bits
# component: OpenVINO, CPU plugin
# expected: Reshape-1: the elements of the input, in another shape
# actual: 2^40 + 5 becomes 5, without an error or a warning
# issues: openvinotoolkit/openvino#24072, openvinotoolkit/openvino#16499, openvinotoolkit/openvino#35826
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1], np.int64)
compiled = ov.compile_model(ov.Model([op.reshape(x, op.constant(np.array([1, 1])), False)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([2**40 + 5]))[0], [[2**40 + 5]])
