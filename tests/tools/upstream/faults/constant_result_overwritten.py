# title: Add of CumSum of a constant and an input differs from the second inference on: it is computed in place
# component: OpenVINO, CPU plugin
# expected: each inference of one request with the same input has the same result
# actual: CumSum of a constant is computed once; Add writes its result over it, so that the second inference adds to the first
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3], np.int32)
total = op.cum_sum(op.constant(np.int32([1, 1, 1])), op.constant(np.int32(0)))
request = ov.compile_model(ov.Model([op.add(total, x)], [x]), "CPU").create_infer_request()

for _ in range(2):
    np.testing.assert_array_equal(request.infer([np.int32([10, 10, 10])])[0], [11, 12, 13])
