# title: A pool or convolution of what If returns reads uninitialised memory in the first inference
# component: OpenVINO, CPU plugin
# expected: If-8: the result is that of the branch that is executed, in each inference
# actual: if the shape of that is open, the first inference reads memory that nothing has written; later ones are right
import numpy as np
import openvino as ov
from openvino import opset13 as op

condition, x = op.parameter([], np.bool_), op.parameter([-1, 3, 4], np.float32)
inner = [op.parameter([-1, 3, 4], np.float32) for _ in range(2)]
bodies = [ov.Model([op.result(op.relu(one))], [one]) for one in inner]
choice = op.if_op(condition)
choice.set_then_body(bodies[0])
choice.set_else_body(bodies[1])
choice.set_input(x.output(0), *inner)
y = op.avg_pool(choice.set_output(*(body.results[0] for body in bodies)), [1], [0], [0], [2], True)
compiled = ov.compile_model(ov.Model([op.result(y)], [condition, x]), "CPU")

data = np.arange(12, dtype=np.float32).reshape(1, 3, 4)
first, second = (compiled([np.array(True), data])[0].copy() for _ in range(2))
np.testing.assert_allclose(second, data[..., :3] + 0.5)
np.testing.assert_allclose(first, second)
