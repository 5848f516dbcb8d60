# title: GatherND reads memory outside of data
# component: OpenVINO, CPU plugin
# expected: GatherND-8, "Inputs": each coordinate lies within its dimension; ONNX GatherND calls anything else an error
# actual: coordinates are not checked: the result is whatever is in memory there, and far ones end the process
# issues: openvinotoolkit/openvino#38297
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([4, 4], np.float32)
tuples = op.parameter([1, 2], np.int32)
request = ov.compile_model(ov.Model([op.gather_nd(data, tuples)], [data, tuples]), "CPU").create_infer_request()

for row in (4, 1_000_000_000):
    try:
        request.start_async([np.zeros((4, 4), np.float32), np.array([[row, 0]], np.int32)])
        request.wait()
    except RuntimeError:
        continue
    raise AssertionError(f"row {row} of 4 rows was accepted")
