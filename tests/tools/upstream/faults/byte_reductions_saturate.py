# title: Sums of bytes saturate in reductions
# component: OpenVINO, CPU plugin
# expected: NumPy: the mean of 200 and 200 is 200, also for integers of 8 bits
# actual: the sum saturates at 255, and the mean is 127
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2], np.uint8)
mean = op.reduce_mean(x, op.constant(np.array([0])), keep_dims=True)
compiled = ov.compile_model(ov.Model([mean], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.array([200, 200], np.uint8))[0], [200])
