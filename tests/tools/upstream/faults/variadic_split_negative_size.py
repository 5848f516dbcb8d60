# title: VariadicSplit of an axis that is too short gives a part a negative size
# component: OpenVINO, shape inference
# expected: VariadicSplit-1, "Inputs": the lengths add up to the size of the axis; an axis that is too short is an error
# actual: the part of length -1 gets the size -1, and parts read memory outside of data
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1], np.float32)
parts = op.variadic_split(x, op.constant(0), op.constant(np.array([4, -1])))
request = ov.compile_model(ov.Model([parts.output(0)], [x]), "CPU").create_infer_request()

try:
    request.start_async([np.float32([1, 2, 3])])
    request.wait()
except RuntimeError:
    pass
else:
    raise AssertionError(f"4 elements of 3: {request.get_output_tensor().data}")
