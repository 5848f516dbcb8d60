# title: ScatterNDUpdate checks the flat place of a tuple only
# component: OpenVINO, CPU plugin
# expected: ScatterNDUpdate-15, "Inputs": each coordinate lies within its own dimension
# actual: a coordinate out of bounds is accepted if the tuple, flattened, is a place in data; another row is written
# issues: openvinotoolkit/openvino#37125
import numpy as np
import openvino as ov
from openvino import opset8 as op

data = op.parameter([4, 4], np.float32)
tuples = op.parameter([1, 2], np.int32)
updates = op.parameter([1], np.float32)
model = ov.Model([op.scatter_nd_update(data, tuples, updates)], [data, tuples, updates], "m")
request = ov.Core().compile_model(model, "CPU").create_infer_request()

try:
    request.start_async([np.zeros((4, 4), np.float32), np.array([[0, 5]], np.int32), np.float32([7])])
    request.wait()
except RuntimeError:
    pass
else:
    place = np.argwhere(request.get_output_tensor().data == 7).tolist()
    raise AssertionError(f"[0, 5] of 4 x 4 elements was accepted, and written to {place}")
