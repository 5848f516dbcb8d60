# title: Broadcast of a tensor without elements ends the process
# component: OpenVINO, CPU plugin
# expected: Broadcast-3, "Detailed description", mode numpy: [0, 1] broadcast to [0, 4] has no elements
# actual: the plugin divides by zero (SIGFPE) in compile_model
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([0, 1], np.float32)
spread = op.broadcast(data, op.constant(np.array([0, 4])))
compiled = ov.compile_model(ov.Model([spread], [data]), "CPU")

found = compiled(np.zeros((0, 1), np.float32))[0]
assert found.shape == (0, 4), found.shape
