# title: StridedSlice that removes an axis without elements returns uninitialized memory
# component: OpenVINO, CPU plugin
# expected: StridedSlice-1, "Detailed description": shrink_axis_mask takes one element of the axis; size 0 is an error
# actual: inference succeeds, and returns memory that nothing has written
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, 8], np.float32)
zero, one = op.constant(np.array([0])), op.constant(np.array([1]))
row = op.strided_slice(x, zero, one, one, begin_mask=[0], end_mask=[0], shrink_axis_mask=[1])
request = ov.compile_model(ov.Model([row], [x]), "CPU").create_infer_request()
request.infer([np.full((3, 8), 7, np.float32)])

try:
    request.start_async([np.zeros((0, 8), np.float32)])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"a row of no rows: {request.get_output_tensor().data}")
