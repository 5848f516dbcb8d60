# title: GatherElements reads memory outside of data
# component: OpenVINO, CPU plugin
# expected: GatherElements-6, "Inputs": an index lies within the axis
# actual: indices are not checked: the result is whatever is in memory there
import numpy as np
import openvino as ov
from openvino import opset8 as op

data, indices = op.parameter([4], np.float32), op.parameter([4], np.int32)
model = ov.Model([op.gather_elements(data, indices, 0)], [data, indices], "m")
request = ov.Core().compile_model(model, "CPU").create_infer_request()

try:
    request.start_async([np.float32([1, 2, 3, 4]), np.array([0, 1, 2, 5], np.int32)])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"index 5 of 4 elements: {request.get_output_tensor().data}")
