# title: Gather of a few integers reads memory outside of data
# component: OpenVINO, CPU plugin
# expected: Gather-8, "Detailed description": an index out of bounds yields 0
# actual: for up to 64 integers in one dimension, an index out of bounds yields whatever is in memory there
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(1, 9, dtype=np.int32)
places = np.arange(8, 40, dtype=np.int32)

data = op.parameter(x.shape, np.int32)
indices = op.parameter(places.shape, np.int32)
gathered = op.gather(data, indices, op.constant(0))
compiled = ov.compile_model(ov.Model([gathered], [data, indices]), "CPU")

np.testing.assert_array_equal(compiled([x, places])[0], np.zeros(32, np.int32))
