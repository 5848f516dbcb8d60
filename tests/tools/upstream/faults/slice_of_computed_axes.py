# title: Slice whose axes alone are an input ends the process
# component: OpenVINO, CPU plugin
# expected: Slice-8, "Inputs": axes are a tensor; the plugin takes one that is an input if start, stop or step are, too
# actual: a segmentation fault at the first inference, if the shape of data is static
import numpy as np
import openvino as ov
from openvino import opset8 as op

data, axes = op.parameter([3, 4], np.float32), op.parameter([1], np.int64)
start, stop, step = (op.constant(np.array([number])) for number in (1, 3, 1))
compiled = ov.compile_model(ov.Model([op.slice(data, start, stop, step, axes)], [data, axes]), "CPU")

x = np.arange(12, dtype=np.float32).reshape(3, 4)
np.testing.assert_array_equal(compiled([x, np.array([1])])[0], x[:, 1:3])
