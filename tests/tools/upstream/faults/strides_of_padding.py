# title: A strided Convolution of windows of one element takes its strides before it pads
# component: OpenVINO, StridesOptimization
# expected: Convolution-1: the data is padded, and windows begin at multiples of the strides in that
# actual: where an elementwise operation or a convolution is before it, that is strided, and then padded
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([1, 1, 3, 3], np.float32)
y = op.convolution(op.relu(x), op.constant(np.ones((1, 1, 1, 1), np.float32)), [2, 2], [1, 1], [1, 1], [1, 1])
data = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
found = ov.compile_model(ov.Model([y], [x]), "CPU")([data])[0]
np.testing.assert_array_equal(found, np.pad(data, ((0, 0), (0, 0), (1, 1), (1, 1)))[..., ::2, ::2])
