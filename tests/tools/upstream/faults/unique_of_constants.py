# title: Unique of what Unique finds in a constant is refused
# component: OpenVINO, CPU plugin
# expected: Unique-10: the elements of a tensor, whatever it is computed from
# actual: compile_model: "Can not create StaticMemory object. The memory desc is undefined"
import numpy as np
import openvino as ov
from openvino import opset13 as op

x = op.parameter([3], np.float32)
found = op.unique(op.unique(op.constant(np.float32([2, 1, 2]))).output(1)).output(0)
compiled = ov.compile_model(ov.Model([op.result(found), op.result(op.abs(x))], [x]), "CPU")

np.testing.assert_array_equal(compiled(np.float32([1, 2, 3]))[0], [0, 1])
