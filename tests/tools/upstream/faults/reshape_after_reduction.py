# title: A Reshape after a reduction that drops axes is dropped
# component: OpenVINO, transformations
# expected: Reshape-1: the shape that is asked for
# actual: ReduceReshapeFusion takes a Reshape to as many axes for one that restores the reduced axis, and drops it
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([2, 3, 2], np.float32)
total = op.reduce_sum(op.relu(x), op.constant(np.array([0])), False)
row = op.reshape(total, op.constant(np.array([1, 6])), False)
request = ov.compile_model(ov.Model([row], [x]), "CPU").create_infer_request()
request.start_async([np.ones((2, 3, 2), np.float32)])
request.wait()
found = request.get_output_tensor().data
assert found.shape == (1, 6), f"shape {found.shape}"
