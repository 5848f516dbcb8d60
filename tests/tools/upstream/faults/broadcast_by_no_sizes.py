# title: Broadcast of a scalar to the shape of a scalar ends the process
# component: OpenVINO, CPU plugin
# expected: Broadcast-3: a shape without sizes is that of a scalar
# actual: the process ends (SIGSEGV) in the inference; to a shape that is an input, the model is refused
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, z = op.parameter([], np.float32), op.parameter([], np.float32)
spread = op.broadcast(x, op.shape_of(z), broadcast_spec="BIDIRECTIONAL")
compiled = ov.compile_model(ov.Model([spread], [x, z]), "CPU")

assert compiled([np.float32(3), np.float32(2)])[0] == 3
