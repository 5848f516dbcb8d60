# title: Unsqueeze and Squeeze of no elements lose an open size
# component: OpenVINO, CPU plugin
# expected: Unsqueeze-1: the output has the sizes of the input, and sizes of 1
# actual: for what reads the result, the open size is 0
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([0, -1], np.float32)
compiled = ov.compile_model(ov.Model([op.abs(op.unsqueeze(x, op.constant(0)))], [x]), "CPU")

found = compiled([np.zeros((0, 3), np.float32)])[0].shape
assert found == (1, 0, 3), f"shape {found}"
