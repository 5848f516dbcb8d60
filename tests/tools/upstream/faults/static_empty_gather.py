# title: Gather without elements ends the process in compile_model
# component: OpenVINO, CPU plugin
# expected: Gather-8, "Outputs": a dimension of 0 in the indices is a dimension of 0 in the output
# actual: the plugin divides by zero (SIGFPE) while it compiles
import numpy as np
import openvino as ov
from openvino import opset13 as op

data = op.parameter([5, 3], np.float32)
indices = op.parameter([0], np.int32)
gathered = op.gather(data, indices, op.constant(0))
compiled = ov.compile_model(ov.Model([gathered], [data, indices]), "CPU")

found = compiled([np.zeros((5, 3), np.float32), np.zeros(0, np.int32)])[0]
assert found.shape == (0, 3), found.shape
