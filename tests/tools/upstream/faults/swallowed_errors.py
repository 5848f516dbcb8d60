# title: On one thread, a synchronous inference swallows the errors of operations
# component: OpenVINO, CPU plugin
# expected: InferRequest::infer throws what its operations throw, as `start_async()` and `wait()` do
# actual: `infer()` returns normally, and the output is memory that nothing has written
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([4, 4], np.float32)
indices = op.parameter([4, 4], np.int32)
model = ov.Model([op.gather_elements(data, indices, 0)], [data, indices])
request = ov.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1}).create_infer_request()
feed = [np.ones((4, 4), np.float32), np.full((4, 4), 1000, np.int32)]

try:
    request.start_async(feed)
    request.wait()
except RuntimeError as error:
    print("asynchronous:", str(error).strip().splitlines()[-1][:100])
try:
    request.infer(feed)
except RuntimeError:
    pass
else:
    raise AssertionError("synchronous: index 1000 of 4 rows was accepted")
