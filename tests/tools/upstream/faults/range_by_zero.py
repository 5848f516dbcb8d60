# title: A Range of integers by a step of 0 ends the process
# component: OpenVINO, CPU plugin
# expected: an error, as for fractions
# actual: the number of elements is a quotient by 0
import numpy as np
import openvino as ov
from openvino import opset13 as op

start, limit, step = (op.parameter([], np.int32) for _ in range(3))
numbers = op.range(start, limit, step, "i32")
request = ov.compile_model(ov.Model([numbers], [start, limit, step]), "CPU").create_infer_request()
for number in (2, 0):
    request.start_async([np.int32(1), np.int32(5), np.array(number, np.int32)])
    try:
        request.wait()
    except RuntimeError:
        assert number == 0
