# title: Unique of slices of bytes returns wrong positions
# component: OpenVINO, CPU plugin
# expected: Unique-10: the second output has the positions of the first of equal slices
# actual: the positions, and counts of unsorted slices, are wrong, or uninitialized memory
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3, 2], np.int8)
unique = op.unique(x, op.constant(0), sorted=False)
compiled = ov.compile_model(ov.Model([unique.output(1)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.int8([[3, 1], [0, 2], [3, 1]]))[0], [0, 1])
