# title: The maximum of infinities is a finite number
# component: OpenVINO, CPU plugin
# expected: ReduceMax-1: minus infinity, the greatest of the elements
# actual: ReduceMax: -3.4e38; ReduceMin of infinities: 3.4e38; Softmax and masks written with them yield NaN
import numpy as np
import openvino as ov
from openvino import opset13 as op

mask = op.parameter([2, 3], np.bool_)
bias = op.select(mask, op.constant(np.float32(0)), op.constant(np.float32(-np.inf)))
largest = op.reduce_max(bias, op.constant(np.array([1])), keep_dims=False)
compiled = ov.compile_model(ov.Model([largest], [mask]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

found = compiled(np.array([[True, False, True], [False, False, False]]))[0]
np.testing.assert_array_equal(found, [0, -np.inf])
