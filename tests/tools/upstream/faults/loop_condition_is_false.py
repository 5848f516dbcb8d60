# title: A Loop whose condition is the constant false loses its state
# component: OpenVINO, CPU plugin
# expected: Loop-5: without an iteration, the final state is the initial state, of shape (3, 4)
# actual: a tensor of shape (0, 4); with joined slices, or constant states, the model is refused
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, state = op.parameter([3, 4], np.float32), op.parameter([3, 4], np.float32)
body = ov.Model([op.result(op.add(state, state)), op.result(op.constant(np.array([True])))], [state], "body")
loop = op.loop(op.constant(3), op.constant(np.array(False)))
loop.set_function(body)
loop.set_special_body_ports([-1, 1])
loop.set_merged_input(state, x.output(0), body.results[0].output(0))
last = loop.get_iter_value(body.results[0].output(0), -1)
compiled = ov.compile_model(ov.Model([op.result(last)], [x]), "CPU")

data = np.ones((3, 4), np.float32)
np.testing.assert_array_equal(compiled(data)[0], data)
