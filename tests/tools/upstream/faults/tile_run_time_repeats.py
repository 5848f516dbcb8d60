# title: Tile with repeats known at run time leaves parts of a 4-D output unwritten
# component: OpenVINO, CPU plugin
# expected: Tile-1, "Detailed description": the output is the input, repeated along each axis
# actual: if three of four axes are repeated, parts of the output are uninitialized memory
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
repeats = np.array([3, 3, 3, 3])

data = op.parameter([-1, -1, -1, -1], np.float32)
times = op.parameter([4], np.int64)
compiled = ov.compile_model(ov.Model([op.tile(data, times)], [data, times]), "CPU")

np.testing.assert_array_equal(compiled([x, repeats])[0], np.tile(x, repeats))
