# title: The maximum of nothing is the least finite number
# component: OpenVINO, CPU plugin
# expected: ONNX ReduceMax-20: minus infinity; NumPy: the mean of nothing is NaN
# actual: ReduceMax: -3.4e38; ReduceMin: 3.4e38; ReduceMean: 0
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 0], np.float32)
largest = op.reduce_max(x, op.constant(np.array([1])), keep_dims=False)
compiled = ov.compile_model(ov.Model([largest], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

np.testing.assert_array_equal(compiled(np.zeros((2, 0), np.float32))[0], [-np.inf, -np.inf])
