# title: Gather-1 whose axis is an input ends the process
# component: OpenVINO, CPU plugin
# expected: Gather-1, "Inputs": the axis is a tensor; a plugin that needs a constant says so, as this one does for Gather-8
# actual: a segmentation fault while it compiles
import numpy as np
import openvino as ov
from openvino import opset1 as op

data, indices = op.parameter([3, 2], np.float32), op.parameter([1], np.int32)
axis = op.parameter([], np.int64)
model = ov.Model([op.gather(data, indices, axis)], [data, indices, axis], "m")
x, i = np.float32([[1, 2], [3, 4], [5, 6]]), np.array([2], np.int32)

try:
    found = ov.Core().compile_model(model, "CPU")([x, i, np.array(0)])[0]
except RuntimeError as error:
    print("refused:", str(error).strip().splitlines()[-1])
else:
    np.testing.assert_array_equal(found, x[i])
