# title: A Transpose of axes of size 1 has other sizes if open ones that it moves are 0
# component: OpenVINO, CPU plugin
# expected: Transpose-1: the sizes of the input in the given order
# actual: TransposeToReshape makes a Reshape of it that takes a size of 0 for that of the input there, or is refused
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([-1, -1, 1], np.float32)
moved = op.transpose(op.relu(x), op.constant(np.array([2, 0, 1])))
request = ov.compile_model(ov.Model([moved], [x]), "CPU").create_infer_request()

for shape in ((2, 3, 1), (0, 0, 1), (2, 0, 1)):
    request.start_async([np.zeros(shape, np.float32)])
    request.wait()
    assert tuple(request.get_output_tensor().shape) == (1, *shape[:2]), request.get_output_tensor().shape
