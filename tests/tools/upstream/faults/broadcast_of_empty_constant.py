# title: Folding a Broadcast of a constant without elements ends the process
# component: OpenVINO, constant folding
# expected: Broadcast-3, "Detailed description", mode numpy: [1, 0] broadcast to [3, 0] has no elements
# actual: the evaluation of Broadcast divides by zero (SIGFPE) in compile_model; a NonZero of it dies while the model is built
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3, 0], np.float32)
nothing = op.broadcast(op.constant(np.zeros((1, 0), np.float32)), op.constant(np.array([3, 0])))
compiled = ov.compile_model(ov.Model([op.add(x, nothing)], [x]), "CPU")

found = compiled(np.zeros((3, 0), np.float32))[0]
assert found.shape == (3, 0), found.shape
