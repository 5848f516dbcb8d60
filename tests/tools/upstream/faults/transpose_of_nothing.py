# title: Transpose of no elements has other sizes if it moves axes of size 1 alone
# component: OpenVINO, CPU plugin
# expected: Transpose-1: size i of the output is size order[i] of the input
# actual: it becomes a Reshape whose size of 0 copies the size before: (1, 2, 1) for (1, 2, 0)
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 0, 1], np.float32)
compiled = ov.compile_model(ov.Model([op.transpose(op.abs(x), op.constant(np.array([2, 0, 1])))], [x]), "CPU")

found = compiled([np.zeros((2, 0, 1), np.float32)])[0].shape
assert found == (1, 2, 0), f"shape {found}"
