# title: Unique along another axis than the first merges different slices
# component: OpenVINO, CPU plugin
# expected: Unique-10: the slices along the axis that differ, here all four columns
# actual: the elements are compared as if the axis were the first: three columns
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 4], np.float32)
unique = op.unique(x, op.constant(1))
compiled = ov.compile_model(ov.Model([unique.output(0)], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

columns = np.float32([[2, 0, 1, 0], [1, 2, 0, 1]])
np.testing.assert_array_equal(compiled(columns)[0], np.unique(columns, axis=1))
