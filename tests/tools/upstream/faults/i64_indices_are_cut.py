# title: GatherElements accepts 64-bit indices that are out of bounds
# component: OpenVINO, CPU plugin
# expected: GatherElements-6, "Inputs": an index lies within the axis; the plugin refuses 32-bit ones that do not
# actual: 2^32 + 1 is cut to 32 bits and selects element 1
# issues: openvinotoolkit/openvino#24072, openvinotoolkit/openvino#16499
import numpy as np
import openvino as ov
from openvino import opset13 as op

data, indices = op.parameter([3], np.float32), op.parameter([1], np.int64)
model = ov.Model([op.gather_elements(data, indices, 0)], [data, indices], "m")
request = ov.compile_model(model, "CPU").create_infer_request()

try:
    request.start_async([np.float32([1, 2, 3]), np.array([2**32 + 1])])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"index 2^32 + 1 of 3 elements: {request.get_output_tensor().data}")
