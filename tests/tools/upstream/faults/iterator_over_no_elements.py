# title: TensorIterator over slices of a tensor without elements ends the process
# component: OpenVINO, CPU plugin
# expected: TensorIterator-1: the body is executed for each slice along axis; [0, 3] has three of [0, 1] along axis 1
# actual: the plugin divides by zero (SIGFPE) in the inference, if the size of 0 is known at run time only
import numpy as np
import openvino as ov
from openvino import opset13 as op

x, part = op.parameter([-1, 3], np.float32), op.parameter([-1, 1], np.float32)
body = ov.Model([op.result(op.negative(part))], [part], "body")
iterator = op.tensor_iterator()
iterator.set_body(body)
iterator.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
every = iterator.get_concatenated_slices(body.results[0].output(0), 0, 1, 1, -1, 1)
compiled = ov.compile_model(ov.Model([op.result(every)], [x]), "CPU")

found = compiled(np.zeros((0, 3), np.float32))[0]
assert found.shape == (0, 3), found.shape
