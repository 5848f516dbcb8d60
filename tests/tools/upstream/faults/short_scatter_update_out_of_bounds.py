# title: ScatterUpdate into a few integers writes memory outside of data
# component: OpenVINO, CPU plugin
# expected: ScatterUpdate-3, "Inputs": an index is in [0, d - 1]; for larger data, the plugin refuses others
# actual: for up to 64 integers in one dimension nothing is checked, and the plugin writes beyond the tensor
# issues: openvinotoolkit/openvino#38297
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([8], np.int32)
indices = op.parameter([1], np.int32)
updates = op.parameter([1], np.int32)
scattered = op.scatter_update(data, indices, updates, op.constant(0))
request = ov.compile_model(ov.Model([scattered], [data, indices, updates]), "CPU").create_infer_request()

for place in (8, 100_000_000):
    try:
        request.start_async([np.zeros(8, np.int32), np.array([place], np.int32), np.array([7], np.int32)])
        request.wait()
    except RuntimeError:
        continue
    raise AssertionError(f"index {place} of 8 elements was accepted")
