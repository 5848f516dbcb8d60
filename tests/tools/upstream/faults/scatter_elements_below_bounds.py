# title: ScatterElementsUpdate writes memory before data for an index that is too low
# component: OpenVINO, CPU plugin
# expected: ScatterElementsUpdate-12, "Inputs": an index lies in [-d, d - 1]; the plugin checks only the upper bound
# actual: an index below -d writes to memory before the tensor, and ends the process if that is far away
# issues: openvinotoolkit/openvino#38297
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([8], np.float32)
indices = op.parameter([1], np.int32)
updates = op.parameter([1], np.float32)
scattered = op.scatter_elements_update(data, indices, updates, op.constant(0))
request = ov.compile_model(ov.Model([scattered], [data, indices, updates]), "CPU").create_infer_request()

for place in (-9, -1_000_000_000):
    try:
        request.start_async([np.zeros(8, np.float32), np.array([place], np.int32), np.float32([7])])
        request.wait()
    except RuntimeError:
        continue
    raise AssertionError(f"index {place} of 8 elements was accepted")
