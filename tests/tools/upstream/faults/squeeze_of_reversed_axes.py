# title: What removes an axis behind a Transpose of the empty order is refused
# component: OpenVINO, transformations
# expected: Transpose-1: an empty order reverses the axes
# actual: compile_model: TransposeReduction, "CALLBACK HAS THROWN: std::bad_array_new_length"
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 3], np.float32)
turned = op.transpose(x, op.constant(np.zeros(0, np.int64)))
total = op.reduce_sum(turned, op.constant(np.array([0])), keep_dims=False)
compiled = ov.compile_model(ov.Model([total], [x]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

data = np.arange(6, dtype=np.float32).reshape(2, 3)
np.testing.assert_array_equal(compiled(data)[0], data.T.sum(0))
