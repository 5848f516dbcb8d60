# title: Arithmetic with a Broadcast to a size of 0 returns an element
# component: OpenVINO, transformations
# expected: Broadcast-3: a size of 0 in the target shape is one of the result, which has no elements
# actual: the Broadcast is done after the sum, and keeps the element: [8]
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1], np.float32)
spread = op.broadcast(op.constant(np.float32(7)), op.shape_of(x))
compiled = ov.compile_model(ov.Model([op.add(spread, op.constant(np.float32(1)))], [x]), "CPU")

found = compiled(np.zeros(0, np.float32))[0]
assert found.shape == (0,), found
