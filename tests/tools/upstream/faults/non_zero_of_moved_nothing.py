# title: NonZero of a transposed tensor without elements finds some
# component: OpenVINO, CPU plugin
# expected: NonZero-3: the positions of elements that are not 0: of no elements none
# actual: if the Transpose moves axes of size 1 alone: two positions
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 0, 1], np.float32)
places = op.non_zero(op.transpose(x, op.constant(np.array([2, 0, 1]))))
compiled = ov.compile_model(ov.Model([places], [x]), "CPU")

found = compiled(np.zeros((2, 0, 1), np.float32))[0]
assert found.shape == (3, 0), found.shape
