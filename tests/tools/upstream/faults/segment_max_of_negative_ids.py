# title: SegmentMax of negative segments reads and writes memory before its result
# component: OpenVINO, CPU plugin
# expected: SegmentMax-16: segment_ids are not negative: an error, as for those that are not sorted
# actual: the process ends
import numpy as np
import openvino as ov
from openvino import opset16 as op

data, segments = op.parameter([4], np.float32), op.parameter([4], np.int32)
largest = op.segment_max(data, segments, None, "ZERO")
compiled = ov.compile_model(ov.Model([largest], [data, segments]), "CPU")
request = compiled.create_infer_request()

try:
    request.start_async([np.float32([1, 2, 3, 4]), np.int32([-1000, -5, 0, 1])])
    request.wait()
except RuntimeError as error:
    print(f"an error, as expected: {error}")
else:
    raise AssertionError("no error")
