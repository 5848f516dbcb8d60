# title: TopK of no elements is refused
# component: OpenVINO, CPU plugin
# expected: TopK-11: k is the number of elements to take; ONNX TopK-11 allows 0
# actual: compile_model: "K (0) must be greater or equal to 1"
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3], np.float32)
top = op.topk(x, op.constant(0), 0, "max", "value")
compiled = ov.compile_model(ov.Model([top.output(0), top.output(1)], [x]), "CPU")

assert [array.shape for array in compiled(np.zeros(3, np.float32)).values()] == [(0,), (0,)]
