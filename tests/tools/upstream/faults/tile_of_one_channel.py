# title: Tile of a tensor of one channel and an open size mixes up its elements
# component: OpenVINO, CPU plugin
# expected: Tile-1: element i of an axis of size n is element i mod n of data
# actual: elements are repeated in the place of others, if two axes are repeated
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, 1, 3, 2], np.float32)
tiled = op.tile(x, op.constant(np.array([1, 2, 2, 1])))
compiled = ov.compile_model(ov.Model([tiled], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

data = np.arange(12, dtype=np.float32).reshape(2, 1, 3, 2)
np.testing.assert_array_equal(compiled(data)[0], np.tile(data, (1, 2, 2, 1)))
