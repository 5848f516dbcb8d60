# title: Concat drops an operand without elements, and its size
# component: OpenVINO, transformations
# expected: Concat-1: the size along the axis is the sum of those of all operands, here 6
# actual: the operand of a static size of 0 is dropped: (0, 4)
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, z = op.parameter([0, 2], np.float32), op.parameter([-1, 4], np.float32)
compiled = ov.compile_model(ov.Model([op.concat([x, z], 1)], [x, z]), "CPU")

found = compiled([np.zeros((0, 2), np.float32), np.zeros((0, 4), np.float32)])[0]
assert found.shape == (0, 6), found.shape
