# title: If whose branches return tensors of different ranks is refused
# component: OpenVINO, CPU plugin
# expected: If-8: the result is that of the branch that is executed
# actual: compile_model: "CPU plug-in doesn't support If operation with dynamic rank"
import numpy as np
import openvino as ov
from openvino import opset13 as op

condition, x = op.parameter([], np.bool_), op.parameter([3], np.float32)
inner = [op.parameter([3], np.float32) for _ in range(2)]
outputs = op.unsqueeze(inner[0], op.constant(np.array([0]))), op.relu(inner[1])
bodies = [ov.Model([op.result(one)], [given]) for one, given in zip(outputs, inner, strict=True)]
choice = op.if_op(condition)
choice.set_then_body(bodies[0])
choice.set_else_body(bodies[1])
choice.set_input(x.output(0), *inner)
y = choice.set_output(*(body.results[0] for body in bodies))
compiled = ov.compile_model(ov.Model([op.result(y)], [condition, x]), "CPU")

found = compiled([np.array(True), np.float32([1, 2, 3])])[0]
assert found.shape == (1, 3), found.shape
