# title: Gather along an axis that Unsqueeze inserts disappears, and the axis with it
# component: OpenVINO, transformations
# expected: Gather-8: the result has the dimensions of the indices in the place of the axis, here (1, 3, 4)
# actual: (3, 4), if two sizes are open, and the axis has the same number in both layers
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, -1], np.float32)
inserted = op.unsqueeze(x, op.constant(np.array([0])))
gather = op.gather(inserted, op.constant(np.array([0])), op.constant(0))
compiled = ov.compile_model(ov.Model([gather], [x]), "CPU")

found = compiled(np.zeros((3, 4), np.float32))[0]
assert found.shape == (1, 3, 4), found.shape
