# title: Unique that does not sort, and whose inverse nobody reads, returns its first element alone
# component: OpenVINO, CPU plugin
# expected: Unique-10: sorted=false returns the elements in the order of their first occurrence, whatever outputs are read
# actual: the first element is right, the others are 0, or what memory held before
# issues: openvinotoolkit/openvino#31004
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([4], np.float32)
compiled = ov.compile_model(ov.Model([op.unique(x, sorted=False).output(0)], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.float32([3, 1, 3, 2]))[0], [3, 1, 2])
