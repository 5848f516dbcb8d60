# title: StridedSlice that adds an axis and removes another leaves most of its output unwritten
# component: OpenVINO, CPU plugin
# expected: StridedSlice-1: new_axis_mask inserts an axis of size 1, shrink_axis_mask takes one element of the next axis
# actual: most of the output is uninitialized memory
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
data = op.parameter([-1, -1, -1], np.float32)
zero, one = op.constant(np.array([0, 1])), op.constant(np.array([1, 2]))
step = op.constant(np.array([1, 1]))
masks = {"begin_mask": [0, 0], "end_mask": [0, 0], "new_axis_mask": [1, 0], "shrink_axis_mask": [0, 1]}
compiled = ov.compile_model(ov.Model([op.strided_slice(data, zero, one, step, **masks)], [data]), "CPU")

np.testing.assert_array_equal(compiled(x)[0], x[np.newaxis, 1])
